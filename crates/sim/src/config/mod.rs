//! Reading of scenario files with `shortflow_spec`, and of users' CSV files.

pub(crate) mod csv;

pub(crate) use shortflow_spec::{ConfigError, Entry, Given, ParamInfo, RowError, Setting, Shape, Source};

pub(crate) use shortflow_spec::{
    ANY_SIZE, ANY_TIME, Document, Even, Files, Flag, Format, KeywordOr, Kind, Kinds, ListOf, OCCUPANCY,
    OneOf, POSITIVE_TIME, Positive, RATE, Reader, Text, Unit, keys, of_user,
};
