//! One pass of the sort: the keys of the array in the order of one digit, stably.
