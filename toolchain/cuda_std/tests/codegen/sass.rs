//! sass
