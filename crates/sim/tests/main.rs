//! Tests of the simulator from outside: whole scenarios, and all cases of a port or a topology. They are one
//! program, which is linked once.

mod common;

mod accounting;
mod accounts;
mod analytic;
mod applications;
mod dcqcn;
mod early_hosts;
mod ecn_echo;
mod errors;
mod fairness;
mod faults;
mod fills_link;
mod flow_control;
mod golden;
mod homa;
mod hosts;
mod ideal;
mod linux_tcp;
mod minimal;
mod modes;
mod ndp;
mod outages;
mod packets;
mod papers;
mod partial;
mod path;
mod pause_priorities;
mod priority_classes;
mod queue_distribution;
mod queue_invariants;
mod rack;
mod recovery;
mod routing;
mod sawtooth;
mod shared_memory;
mod sojourn;
mod swift;
mod telemetry;
mod topologies;
mod traces;
mod transport_invariants;
mod unread_keys;
