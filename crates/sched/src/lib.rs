//! Traffic schedulers as pure state machines over virtual time.
