# `just` lists everything.
_default:
    @just --list --unsorted

# format, lints, dependencies
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# every test, with set-up; `just test --quick` for the inner loop
test *ARGS:
    ./test {{ARGS}}

# write what the commands print into the cases' sessions; read the diff afterwards
bless *FILTER:
    LATH_BLESS=1 cargo test --locked -p lath --test cases -- {{FILTER}}
    git diff --stat -- 'crates/*/cases'

# scores of the conformance suites, against the ledgers
conform *ARGS:
    cargo build --release --locked
    tests/conformance {{ARGS}}
    cargo test --locked -p data --test yaml_suite -- --nocapture

# mutated texts for some seconds; TARGET: parse, format, literal, evaluate, unit
fuzz TARGET SECONDS="600":
    cargo run --locked --profile fuzz -p mutate -- {{TARGET}} {{SECONDS}} crates

# speed, as ratios in one run
bench:
    cargo build --release --locked
    for program in bench/*; do [ -x "$program" ] && "$program"; done

# the main job on examples/
demo:
    cargo run --release --locked -- demo
