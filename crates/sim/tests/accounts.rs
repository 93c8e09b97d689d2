//! Accounts of completion times add up to the picosecond, and name the right causes.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::account::{Cause, Explained, FlowAccount, Round, parts};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::{Scheme, schemes};
use shortflow_sim::simulation::{self, Observer, RunProgress};
use shortflow_units::{FlowId, Instant, Span};

#[derive(Default)]
struct Notes {
    explained: Explained,
    accounts: Vec<FlowAccount>,
}

impl Observer for Notes {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }
    fn explains(&self) -> Option<Explained> {
        Some(self.explained)
    }
    fn accounts(&mut self, accounts: Vec<FlowAccount>) {
        self.accounts.extend(accounts);
    }
}

/// Outcome of the run, and accounts of its flows.
fn explained(scenario: &Scenario, scheme: &Scheme, traced: Option<u32>) -> (Outcome, Vec<FlowAccount>) {
    let explained = Explained { traced: traced.map(FlowId) };
    let mut notes = Notes { explained, ..Notes::default() };
    let outcome = simulation::run(scenario, scheme, 1, &mut notes).unwrap_or_else(|error| panic!("{error}"));
    (outcome, notes.accounts)
}

/// Microseconds of an account by round and cause.
fn times(account: &FlowAccount) -> Vec<(Round, Cause, f64)> {
    let each = parts().zip(account.parts).filter(|(_, time)| !time.is_zero());
    each.map(|((round, cause), time)| (round, cause, time.as_ps() as f64 / 1e6)).collect()
}

/// Microseconds of the causes that `of` selects, in all rounds.
fn of_cause(account: &FlowAccount, of: impl Fn(Cause) -> bool) -> f64 {
    times(account).iter().filter(|(_, cause, _)| of(*cause)).map(|(_, _, time)| time).sum()
}

/// Checks that every finished flow has one account, which covers the time from its start to its finish
/// without gaps.
fn check(name: &str, scenario: &Scenario, scheme: &Scheme) -> (Outcome, Vec<FlowAccount>) {
    let (outcome, accounts) = explained(scenario, scheme, Some(3));
    assert_eq!(outcome.digest(), run(scenario, scheme).digest(), "{name}");
    assert!(accounts.is_sorted_by_key(|account| account.finish), "{name}");
    let mut rows: Vec<u32> = accounts.iter().map(|account| account.flow.0).collect();
    rows.sort_unstable();
    let finished = (0..).zip(&outcome.flows).filter(|(_, row)| row.finish.is_some() && row.ideal.is_some());
    assert_eq!(rows, finished.map(|(row, _)| row).collect::<Vec<u32>>(), "{name}");
    for account in &accounts {
        let row = &outcome.flows[account.flow.index()];
        assert_eq!((Some(account.start), Some(account.finish)), (Some(row.start), row.finish), "{name}");
        let sum = account.parts.iter().fold(Span::ZERO, |sum, part| sum + *part);
        assert_eq!(Some(sum), row.fct(), "{name}, flow {}", account.flow.0);
        if account.flow.0 == 3 {
            let ends: Vec<(Instant, Instant)> =
                account.steps.iter().map(|step| (step.from, step.until)).collect();
            assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{name}");
            assert_eq!(ends.first().map(|first| first.0), Some(account.start), "{name}");
            assert_eq!(ends.last().map(|last| last.1), Some(account.finish), "{name}");
            for (part, time) in parts().zip(account.parts) {
                let steps = account.steps.iter().filter(|step| (step.round, step.cause) == part);
                let sum = steps.fold(Span::ZERO, |sum, step| sum + step.until.since(step.from));
                assert_eq!(sum, time, "{name}, {part:?}");
            }
        }
    }
    (outcome, accounts)
}

const MIX: &str = r#"
[[traffic]]
kind = "incast"
flows = 30
sizes = { kind = "uniform", min = "2KB", max = "90KB" }
to = 6
jitter = "10us"
repeat = 3
every = "20ms"
[[traffic]]
kind = "long-lived"
flows = 1
from = 0
to = 6
[faults]
loss = 0.002
"#;

#[test]
fn no_picosecond_is_left_under_any_scheme() {
    let text = star(7, MIX).replace("duration = \"1s\"", "duration = \"80ms\"").replace("250pkt", "40pkt");
    let lossy = scenario(&format!("{text}[tcp]\nhandshake = true\n"), &[]);
    let late = text.replace("loss = 0.002", "loss = 0.001\nreorder = 0.01\nreorder_delay = \"200us\"");
    let late = late.replace("host.model = \"fifo\"", "host.model = \"linux\"");
    let late = scenario(&late, &[]);
    for info in schemes() {
        let scheme = scheme(&info.name, &[]);
        for scenario in [&lossy, &late] {
            let (_, accounts) = check(&info.name, scenario, &scheme);
            let earlier = accounts.iter().map(|each| of_cause(each, |cause| cause == Cause::EarlierMessage));
            assert_eq!(earlier.sum::<f64>(), 0.0, "{}: each flow has its own connection", info.name);
        }
    }
}

/// Eight flows share the pull queue of a host. Trimmed packets of their first windows wait for pulls, and not
/// for timers.
#[test]
fn ndp_waits_for_pulls() {
    let rows: Vec<String> = (0..8).map(|host| format!("0s,h{host},h8,40000")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (outcome, accounts) = check("ndp", &scenario(&star(9, TRACE), &rows), &scheme("ndp", &[]));
    assert!(outcome.ports.iter().map(|port| port.trims_in_run).sum::<u64>() > 100);
    for account in &accounts {
        let of_credit = times(account).into_iter().filter(|(round, ..)| *round == Round::Credit);
        assert!(of_credit.map(|(.., time)| time).sum::<f64>() > 150.0, "{:?}", times(account));
        assert!(of_cause(account, |cause| cause == Cause::Grant) > 100.0, "{:?}", times(account));
        assert_eq!(of_cause(account, |cause| matches!(cause, Cause::Timeout | Cause::Recovery)), 0.0);
    }
}
