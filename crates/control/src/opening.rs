//! What the router opens for a change, and whether whoever asks for the change may have it opened.

use std::path::Path;

use rights::Folders;

use crate::transaction::Plan;
use crate::view::Right;

/// Refuses a change for which the router opens what somebody may not have opened, with the reason.
pub(crate) fn may_open(has: Right, plan: &Plan) -> Result<(), String> {
    if has == Right::All {
        return Ok(());
    }
    let folders = Folders::new(plan.from().files.folders.clone());
    plan.opens().iter().try_for_each(|file| may_open_file(has, &folders, file))
}

fn may_open_file(has: Right, folders: &Folders, file: &Path) -> Result<(), String> {
    let named = file.display();
    if has < Right::Files {
        let (takes, whose) = (Right::Files, Right::Files.whose());
        return Err(format!(
            "opening {named} takes the right {takes}, and you have {has}: {whose}"
        ));
    }
    if folders.cover(file) {
        return Ok(());
    }
    let all: Vec<_> = folders.all().iter().map(|it| it.display().to_string()).collect();
    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let (takes, whose) = (Right::All, Right::All.whose());
    Err(format!(
        "{named} is below none of the folders of `files.folders` ({all}): \
         that takes the right {takes}, {whose}"
    ))
}
