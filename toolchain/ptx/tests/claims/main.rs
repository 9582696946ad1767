//! Modules of every kind are parsed, and texts that are not modules are refused with a line.

mod shipped;
