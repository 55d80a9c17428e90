//! The commands, as a user types them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_volley-lab")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> (String, String) {
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (read(&output.stdout), read(&output.stderr))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_simulated_campaign_finds_the_truth_and_its_report_renders_again_to_the_byte() {
    let folder = folder("simulate");
    let path = folder.to_str().unwrap();
    let arguments = ["simulate", "--capacity", "9M,8.5M", "--runs", "3", "--out", path];
    let output = lab(&arguments);
    let (told, errors) = text(&output);
    assert!(output.status.success(), "{errors}");
    assert!(told.contains("sim 9.00 Mpps") && told.contains(", lower;"), "{told}");
    let page = std::fs::read(folder.join("report.html")).unwrap();
    std::fs::remove_file(folder.join("report.html")).unwrap();
    let yang = folder.join("results.json");
    assert!(lab(&["report", path, "--yang", yang.to_str().unwrap()]).status.success());
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(yang).unwrap()).unwrap();
    assert!(told["volley-lab:results"]["trial"].as_array().unwrap().len() > 10);
    assert_eq!(std::fs::read(folder.join("report.html")).unwrap(), page);
    let raw = std::fs::read_to_string(folder.join("raw.jsonl")).unwrap();
    assert!(raw.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn every_search_can_be_simulated() {
    for search in ["max-rate", "throughput", "loss-scan"] {
        let output = lab(&["simulate", "--search", search, "--runs", "2", "--noise", "0"]);
        let (told, errors) = text(&output);
        assert!(output.status.success(), "{search}: {errors}");
        assert!(told.contains("10.0"), "{search}: {told}");
    }
}

#[test]
fn devices_that_take_all_that_is_sent_are_at_least_that_fast_and_have_no_ratio() {
    let folder = folder("at-least");
    let path = folder.to_str().unwrap();
    let base = ["simulate", "--noise", "0", "--runs", "3", "--blocks", "6", "--max", "10M"];
    let line = [&base[..], &["--capacity", "20M,30M,9M", "--out", path]].concat();
    let output = lab(&line);
    let (told, errors) = text(&output);
    assert!(output.status.success(), "{errors}");
    assert!(told.contains("≥10.0000") && !told.contains("≥9."), "{told}");
    assert!(told.contains("sim 30.00 Mpps / sim 20.00 Mpps, largest load: no ratio"), "{told}");
    assert!(told.contains("sim 9.00 Mpps / sim 20.00 Mpps, largest load: ≤0.9"), "{told}");
    let csv = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let line = |device: &str| csv.lines().find(|line| line.starts_with(device)).unwrap();
    assert!(line("sim 20").contains(",true,") && line("sim 20").contains(",generator,0,0,0,"));
    assert!(line("sim 9").contains(",false,") && line("sim 9").contains(",device,"), "{csv}");
    let metrics = std::fs::read_to_string(folder.join("metrics.txt")).unwrap();
    let one =
        r#"volley_lab_rate_at_least{device="sim 20.00 Mpps",case="forwarding",metric="NDR"} 1"#;
    assert!(metrics.contains(one), "{metrics}");
}

#[test]
fn a_number_that_fell_does_not_pass_and_says_so_in_junits_words() {
    let campaign = |name: &str, capacity: &str, seed: &str| {
        let folder = folder(name);
        let path = folder.to_str().unwrap().to_owned();
        let line = ["simulate", "--capacity", capacity, "--search", "max-rate", "--runs", "3"];
        assert!(lab(&[&line[..], &["--seed", seed, "--out", &path]].concat()).status.success());
        // Simulated devices are named by their capacity; a trend is of one name.
        let raw = folder.join("raw.jsonl");
        let text =
            std::fs::read_to_string(&raw).unwrap().replace("sim 9.70 Mpps", "sim 10.00 Mpps");
        std::fs::write(raw, text).unwrap();
        path
    };
    let folders: Vec<String> = (1..=8)
        .map(|at| campaign(&format!("t{at}"), if at < 5 { "10M" } else { "9.7M" }, &at.to_string()))
        .collect();
    let trend = |folders: &[String], more: &[&str]| {
        let folders = folders.iter().map(String::as_str);
        lab(&["trend"].into_iter().chain(folders).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    assert_eq!(trend(&folders[..4], &[]).status.code(), Some(0));
    let junit = folder("junit-trend");
    let file = junit.to_str().unwrap();
    let fell = trend(&folders, &["--junit", file]);
    let (told, errors) = text(&fell);
    assert_eq!(fell.status.code(), Some(3), "{told}{errors}");
    assert!(std::fs::read_to_string(&junit).unwrap().contains("<failure message="));
    assert_eq!(trend(&folders, &["--fail-below", "5%"]).status.code(), Some(0));
    assert_eq!(trend(&folders, &["--metric", "nothing"]).status.code(), Some(4));
    std::fs::remove_file(junit).unwrap();
}

#[test]
fn a_history_holds_campaigns_against_a_baseline_names_the_commit_of_a_step_and_draws_it() {
    let work = folder("history");
    std::fs::create_dir_all(&work).unwrap();
    let git = |line: &[&str], day: usize| {
        let made = format!("2026-11-{day:02}T08:00:00Z");
        let dates = [("GIT_AUTHOR_DATE", &made), ("GIT_COMMITTER_DATE", &made)];
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let git = Command::new("git").args(who).args(line).envs(dates).current_dir(&work).output();
        let output = git.unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output).0.trim().to_owned()
    };
    let here = |line: &[&str]| {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_volley-lab"));
        let output = lab.args(line).current_dir(&work).output().unwrap();
        (output.status.code().unwrap(), text(&output).0, text(&output).1)
    };
    git(&["init", "-q"], 1);
    let mut hashes = Vec::new();
    for at in 1..=12 {
        git(&["commit", "-q", "--allow-empty", "-m", &format!("change {at}")], at);
        hashes.push(git(&["rev-parse", "HEAD"], at));
        let (capacity, out) = (if at < 8 { "10M" } else { "9.7M" }, format!("c{at}"));
        let seed = at.to_string();
        let line = ["simulate", "--capacity", capacity, "--search", "max-rate", "--runs", "3"];
        let line = [&line[..], &["--seed", &seed, "--out", &out]].concat();
        assert_eq!(here(&line).0, 0);
        // Simulated devices are named by their capacity; a history is of one name.
        let raw = work.join(&out).join("raw.jsonl");
        let text = std::fs::read_to_string(&raw).unwrap();
        std::fs::write(&raw, text.replace("sim 9.70 Mpps", "sim 10.00 Mpps")).unwrap();
        let (code, told, errors) = here(&["history", "add", &out]);
        assert_eq!((code, told.starts_with("added: ")), (0, true), "{told}{errors}");
    }
    // Once is enough, and HEAD is not what was measured then.
    assert!(here(&["history", "add", "c1", "--commit", &hashes[0]]).1.starts_with("known already"));
    let (code, _, errors) = here(&["history", "add", "c1", "--commit", "nothing"]);
    assert_eq!((code, errors.contains("git knows none")), (1, true), "{errors}");
    let (_, listed, _) = here(&["history", "list"]);
    assert_eq!(
        (listed.lines().count(), listed.lines().last().unwrap().contains("change 12")),
        (12, true)
    );
    assert!(here(&["history", "show", &hashes[7][..9]]).1.contains("change 8"));

    // The step is at the eighth commit.
    let (code, told, _) = here(&["history", "changes"]);
    let step = format!("since {} ({} was as before)", &hashes[7][..8], &hashes[6][..8]);
    assert_eq!((code, told.contains(&step), told.lines().count()), (3, true, 1), "{told}");
    assert_eq!(here(&["history", "changes", "--fail-below", "5%"]).0, 0);
    let (code, told, _) = here(&["history", "dashboard"]);
    assert_eq!((code, told.contains("1 of 1 numbers are worse")), (0, true), "{told}");
    let page = work.join("history/dashboard/index.html");
    let first = std::fs::read(&page).unwrap();
    assert_eq!(here(&["history", "dashboard"]).0, 0);
    assert_eq!(std::fs::read(&page).unwrap(), first);

    // Without a baseline nothing is judged; against one, as the exit codes say.
    let (code, _, errors) = here(&["history", "compare", "c12"]);
    assert_eq!((code, errors.contains("there is none")), (1, true), "{errors}");
    assert_eq!(here(&["history", "baseline", &hashes[0]]).0, 0);
    assert!(here(&["history", "baseline"]).1.contains(&hashes[0][..8]));
    assert_eq!(here(&["history", "compare", "c5", "--fail-below", "2%"]).0, 0);
    let (code, told, _) = here(&["history", "compare", "c12", "--fail-below", "2%"]);
    assert_eq!((code, told.contains("FAILED: sim 10.00 Mpps")), (3, true), "{told}");
    assert_eq!(here(&["history", "compare", "c12", "--fail-below", "5%"]).0, 0);
    // Another host is another thing.
    let raw = work.join("c12/raw.jsonl");
    let text = std::fs::read_to_string(&raw).unwrap();
    std::fs::write(&raw, text.replace("simulated: every", "measured: every")).unwrap();
    let (code, _, errors) = here(&["history", "compare", "c12"]);
    assert_eq!((code, errors.contains("unlike host")), (1, true), "{errors}");
    assert_eq!(here(&["history", "compare", "c12", "--any-host"]).0, 3);
}

/// A repository of 12 commits whose builds are files with a number in them: slower by 4 % from the
/// eighth on; the fifth and those in `broken` do not build.
fn repository(name: &str, broken: &[usize]) -> (PathBuf, Vec<String>) {
    let work = folder(name);
    std::fs::create_dir_all(work.join("src")).unwrap();
    let git = |line: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let output =
            Command::new("git").args(who).args(line).current_dir(work.join("src")).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output).0.trim().to_owned()
    };
    git(&["init", "-q"]);
    let commit = |at: usize| {
        let speed = if at < 8 { "1000" } else { "960" };
        let speed = if broken.contains(&at) { "broken" } else { speed };
        std::fs::write(work.join("src/speed"), format!("{speed} {at}\n")).unwrap();
        git(&["add", "speed"]);
        git(&["commit", "-q", "-m", &format!("change {at}")]);
        git(&["rev-parse", "HEAD"])
    };
    let hashes = (1..=12).map(commit).collect();
    (work, hashes)
}

/// Builds by copying, counts how often, and measures with noise of 1 % that is the same each time.
fn bisected(work: &Path, more: &[&str]) -> (i32, String, String) {
    let build = format!(
        "echo $REVISION >> {0}/built; grep -q broken speed && exit 1; cp speed $OUT/",
        work.display()
    );
    let measure = format!(
        "n=$(cat {0}/asked 2>/dev/null || echo 0); echo $((n + 1)) > {0}/asked; \
         awk -v n=$n '{{ print $1 * (1 + 0.01 * sin(n * 12.9898 + 7 * sin(n))) }}' $BUILD/speed",
        work.display()
    );
    let line = ["bisect", "--build", &build, "--measure", &measure, "--repository", "src"];
    let mut lab = Command::new(env!("CARGO_BIN_EXE_volley-lab"));
    let output = lab
        .args(line)
        .args(["--cache", "cache", "--blocks", "6"])
        .args(more)
        .current_dir(work)
        .output();
    let output = output.unwrap();
    (output.status.code().unwrap(), text(&output).0, text(&output).1)
}

#[test]
fn a_bisection_names_the_first_slower_revision_and_builds_each_once() {
    let (work, hashes) = repository("bisect", &[5]);
    let good = ["--good", &hashes[0]];
    let (code, told, errors) = bisected(&work, &good);
    assert_eq!(code, 0, "{told}{errors}");
    let first = format!("first slower: {} ", &hashes[7][..10]);
    assert!(told.contains(&first) && told.contains("change 8"), "{told}");
    assert!(
        told.contains(&format!("{}, the last that is not: 1.0", &hashes[6][..10]))
            || told.contains("the last that is not: 0.99"),
        "{told}"
    );
    let built = || std::fs::read_to_string(work.join("built")).unwrap();
    let counted = built();
    let mut lines: Vec<&str> = counted.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert!(lines.len() == all && all <= 7, "{counted}");
    // Again: all that built is there. The user's repository has no trace of it.
    let (code, again, _) = bisected(&work, &good);
    assert_eq!((code, again.contains(&first), built()), (0, true, counted));
    let mut git = Command::new("git");
    let left = git.args(["worktree", "list"]).current_dir(work.join("src")).output().unwrap();
    assert_eq!(text(&left).0.lines().count(), 1);
    // 4 % are allowed by 10 %, and there is nothing slower before the eighth.
    let (code, told, _) = bisected(&work, &["--good", &hashes[0], "--fail-below", "10%"]);
    assert_eq!((code, told.contains("is not slower than")), (0, true), "{told}");
    let (code, told, _) = bisected(&work, &["--good", &hashes[0], "--bad", &hashes[6]]);
    assert_eq!((code, told.contains("is not slower than")), (0, true), "{told}");
}

#[test]
fn revisions_that_do_not_build_are_told_where_they_hide_the_first_slower_one() {
    let (work, hashes) = repository("bisect-broken", &[7, 8]);
    let (code, told, errors) = bisected(&work, &["--good", &hashes[0]]);
    assert_eq!(code, 0, "{told}{errors}");
    assert!(told.contains(&format!("first slower: {} ", &hashes[8][..10])), "{told}");
    for hidden in [&hashes[6], &hashes[7]] {
        assert!(told.contains(&format!("or it was {} ", &hidden[..10])), "{told}");
    }
    // What it stands on has to build, and has to be there.
    let (code, _, errors) = bisected(&work, &["--good", &hashes[6]]);
    assert_eq!((code, errors.contains("does not build")), (4, true), "{errors}");
    let (code, _, errors) = bisected(&work, &["--good", "nothing"]);
    assert_eq!((code, errors.contains("git knows none")), (1, true), "{errors}");
    let (code, _, errors) = bisected(&work, &["--good", &hashes[11], "--bad", &hashes[0]]);
    assert_eq!((code, errors.contains("does not come before")), (1, true), "{errors}");
    let (code, _, errors) = bisected(&work, &["--good", &hashes[0], "--measure", "echo fast"]);
    assert!(
        code != 0 && (errors.contains("no number") || errors.contains("--measure")),
        "{errors}"
    );
    let output = lab(&["bisect", "x.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).1.contains("--good"), "{output:?}");
}

#[test]
fn a_results_folder_is_judged_by_its_exit_code() {
    let judged = |line: &str| {
        let folder = folder("judged");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("raw.jsonl"), line).unwrap();
        let junit = folder.join("junit.xml");
        let (path, junit) = (folder.to_str().unwrap(), junit.to_str().unwrap());
        assert!(lab(&["report", path]).status.success(), "unless it is asked, it does not judge");
        let output = lab(&["report", path, "--junit", junit]);
        (output.status.code().unwrap(), std::fs::read_to_string(junit).unwrap())
    };
    let subject = r#""subject":{"device":"volley","function":"acl"}"#;
    let (code, xml) = judged(&format!(
        "{{\"v\":1,\"check\":{{{subject},\"fault\":{{\"stream\":\"denied\",\"reason\":\"came out\"}}}}}}\n"
    ));
    assert_eq!((code, xml.contains("<failure message=\"denied: came out\"/>")), (3, true), "{xml}");
    let refused = format!(
        "{{\"v\":1,\"failure\":{{{subject},\"refused\":true,\"reason\":\"it is not installed\"}}}}\n"
    );
    let (code, xml) = judged(&refused);
    assert_eq!(
        (code, xml.contains("<skipped message=\"it is not installed\"/>")),
        (4, true),
        "{xml}"
    );
    let passed = format!("{{\"v\":1,\"check\":{{{subject}}}}}\n");
    assert_eq!(judged(&(passed + &refused)).0, 0);
    assert_eq!(judged("").0, 4);
}

#[test]
fn a_rate_is_its_lower_bound_by_name_and_the_truth_of_a_pdr_is_the_load_that_loses_so_much() {
    let read = |runs: &str| {
        let output = lab(&["simulate", "--noise", "0", "--runs", runs, "--capacity", "9M"]);
        text(&output).0
    };
    let three = read("3");
    // device: three words; metric; lower, upper, conditional, from, to, truth
    let row = |metric: &str| -> Vec<f64> {
        let line = three.lines().find(|line| line.contains(metric)).unwrap();
        let numbers = line.split_whitespace().skip(if metric == "NDR" { 4 } else { 6 });
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let (ndr, pdr) = (row("NDR"), row("PDR"));
    assert_eq!((ndr[5], pdr[5]), (9.0, 9.0452), "{three}");
    for [lower, upper, conditional, from, to, truth] in
        [ndr, pdr].map(|it| <[f64; 6]>::try_from(it).unwrap())
    {
        assert!(lower <= truth && truth <= upper && from <= truth && truth <= to, "{three}");
        assert!(conditional <= lower && conditional > 0.99 * lower, "{three}");
    }
    assert!(three.contains("95 % of it") && three.contains("lower bound"), "{three}");
    assert!(read("2").contains("bracket"));
    let lossy = text(&lab(&["simulate", "--base-loss", "0.01", "--runs", "3"]));
    assert!(lossy.0.contains("none") || lossy.1.contains("smallest load"), "{lossy:?}");
}

#[test]
fn a_device_that_nobody_knows_is_refused_before_anything_is_measured() {
    let out = folder("nobody");
    let quick = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/quick.toml");
    let out_path = out.to_str().unwrap();
    for arguments in [
        &["run", quick, "--devices", "volley,toaster", "--out", out_path][..],
        &["compare", "volley", "toaster", quick, "--out", out_path],
    ] {
        let output = lab(arguments);
        let (_, errors) = text(&output);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(errors.contains("toaster") && errors.contains("linux-bridge"), "{errors}");
        assert!(!out.exists(), "nothing is written");
    }
}

#[test]
fn a_scenario_with_a_fault_is_told_at_its_place_and_fails() {
    let folder = folder("scenario");
    std::fs::create_dir_all(&folder).unwrap();
    let (good, bad) = (folder.join("good.toml"), folder.join("bad.toml"));
    let plain = "name = 'good'\ntitle = 'T'\nabout = 'A'\n[[function]]\nkind = 'ip4'\n\
                 [measure]\nsearch = 'mlr'\n";
    std::fs::write(&good, plain).unwrap();
    std::fs::write(&bad, plain.replace("'ip4'", "'ip5'")).unwrap();
    let paths = [&bad, &good].map(|path| path.to_str().unwrap());
    let output = lab(&["scenario", "check", paths[0], paths[1]]);
    let (told, errors) = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("good.toml: cases 1"), "{told}");
    assert!(errors.contains("bad.toml:5:8: unknown variant `ip5`"), "{errors}");
}

#[test]
fn a_scenario_goes_to_yang_and_back_and_runs_from_either() {
    let folder = folder("yang");
    std::fs::create_dir_all(&folder).unwrap();
    let quick = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/quick.toml");
    let (data, errors) = text(&lab(&["scenario", "export", "--yang", quick]));
    assert!(data.contains("ietf-traffic-generator:traffic-generator"), "{errors}");
    let file = folder.join("quick.json");
    std::fs::write(&file, data).unwrap();
    let path = file.to_str().unwrap();
    let (toml, errors) = text(&lab(&["scenario", "import", path]));
    let again = folder.join("again.toml");
    std::fs::write(&again, toml).unwrap();
    let cases =
        [quick, path, again.to_str().unwrap()].map(|it| text(&lab(&["scenario", "cases", it])).0);
    assert!(cases[0].lines().count() > 3 && cases.iter().all(|it| *it == cases[0]), "{errors}");
    std::fs::write(&file, "{}").unwrap();
    let (_, errors) = text(&lab(&["scenario", "check", path]));
    assert!(errors.contains("quick.json: /: ietf-interfaces:interfaces is missing"), "{errors}");
}

#[test]
fn the_parts_of_a_scenario_are_all_its_cases_and_each_once() {
    let quick = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/l2-bridge.toml");
    let cases = |more: &[&str]| -> Vec<String> {
        let output = lab(&[&["scenario", "cases", quick][..], more].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output).0.lines().skip(1).map(str::to_owned).collect()
    };
    let whole = cases(&[]);
    let parts: Vec<Vec<String>> =
        ["1/3", "2/3", "3/3"].iter().map(|part| cases(&["--shard", part])).collect();
    assert_eq!(parts.concat(), whole);
    assert!(parts.iter().all(|part| part.len().abs_diff(whole.len() / 3) <= 1), "{parts:?}");
    let planned =
        |more: &[&str]| text(&lab(&[&["plan", quick, "--devices", "volley"][..], more].concat())).0;
    assert!(planned(&["--shard", "1/3"]).contains(&format!("{} cases", parts[0].len())));
    let output = lab(&["scenario", "cases", quick, "--shard", "4/3"]);
    assert_eq!(output.status.code(), Some(2));
    let output = lab(&["scenario", "cases", quick, "--shard", "1/999"]);
    assert!(text(&output).1.contains("at most as many parts"), "{output:?}");
    // Parts that were measured are put together.
    assert_eq!(lab(&["report", "a", "b"]).status.code(), Some(2));
}

#[test]
fn the_clock_models_fit_the_sources_table() {
    let (told, _) = text(&lab(&["fit", "clock"]));
    let line = told.lines().find(|line| line.starts_with("L2 cross-connect")).unwrap();
    assert!(line.contains("0.99"), "{line}");
}

#[test]
fn a_fit_of_ones_own_points_names_the_line_that_is_wrong() {
    let folder = folder("fit");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("points.csv");
    std::fs::write(&file, "workers,mpps\n1,4\n2,8\n3,11.9\n").unwrap();
    let path = file.to_str().unwrap();
    let (told, errors) = text(&lab(&["fit", "workers", path]));
    assert!(told.contains("t = 3.9") || told.contains("t = 4.0"), "{told}{errors}");
    std::fs::write(&file, "1,4\ntwo,8\n").unwrap();
    let (_, errors) = text(&lab(&["fit", "workers", path]));
    assert!(errors.contains("points.csv:2: \"two,8\" is not x,y"), "{errors}");
}

#[test]
fn nonsense_is_refused_with_exit_code_2_and_says_what_it_is() {
    for (line, what) in [
        (&["frobnicate"][..], "frobnicate"),
        (&[], "Usage: volley-lab"),
        (&["simulate", "--capacity", "x"], "--capacity"),
        (&["simulate", "--search", "stream"], "loss-scan"),
        (&["report"], "<DIR>"),
        (&["run", "a.toml", "--rusn", "3"], "--rusn"),
        (&["run", "a.toml", "--restarts", "1.5"], "1.5"),
        (&["run", "a.toml", "--link", "rope"], "memif"),
        (&["fit", "workers"], "<CSV>"),
        (&["compare", "volley", "ovs"], "<SCENARIO>"),
    ] {
        let output = lab(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        let (told, errors) = text(&output);
        assert!(told.is_empty() && errors.contains(what), "{line:?}: {errors}");
    }
    assert_eq!(lab(&["report", "/nonexistent"]).status.code(), Some(1));
}

#[test]
fn it_tells_its_version_its_help_and_its_completion() {
    let told = |line: &[&str]| {
        let output = lab(line);
        assert!(output.status.success(), "{line:?}");
        text(&output).0
    };
    assert_eq!(told(&["--version"]), concat!("volley-lab ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = told(&["help"]);
    let commands = ["run", "compare", "bisect", "trend", "self-test", "traffic", "respond", "ask"];
    for command in commands.into_iter().chain(["simulate", "report", "index", "scenario", "fit"]) {
        let line = |line: &&str| line.split_whitespace().next() == Some(command);
        let listed = help.lines().find(line).unwrap_or_else(|| panic!("{command}: {help}"));
        assert!(listed.trim().len() > command.len() + 10, "{listed}");
        assert!(told(&[command, "--help"]).contains(&format!("volley-lab {command}")));
        assert!(told(&["completion", "bash"]).contains(command), "{command}");
    }
    let run = told(&["run", "--help"]);
    assert!(run.contains("linux-bridge") && run.contains("volley=FOLDER"), "{run}");
}

#[test]
fn a_reader_that_went_away_ends_the_program_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volley-lab"));
    let output = command.arg("help").stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(text(&output).1, "");
}

#[test]
fn peers_are_told_one_a_line_and_as_json() {
    let (told, errors) = text(&lab(&["peers", "vpp=/nonexistent"]));
    let vpp = told.lines().find(|line| line.starts_with("vpp=/nonexistent")).unwrap();
    assert!(vpp.contains("not here: /nonexistent") && vpp.contains("docs/peers.md"), "{vpp}");
    assert!(told.lines().any(|line| line.starts_with("linux-bridge") && line.contains("here: ")));
    assert!(errors.is_empty(), "{errors}");
    let output = lab(&["peers", "--json"]);
    let peers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        peers.as_array().unwrap().iter().map(|peer| peer["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"grout") && names.contains(&"fastclick"), "{names:?}");
    assert_eq!(lab(&["peers", "cisco=/opt"]).status.code(), Some(1));
}
