//! `lprof map`: the logs of one node to request accumulators. Only
//! accumulators leave the node.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;

use super::{Usage, exit_code, options, summary};
use crate::args::MapArgs;
use crate::model::Model;
use crate::output::Voice;
use crate::pipeline::{Inputs, Mapper, Nodes, Options, Written, check_name, check_output};

mod aggregate;

pub(crate) fn run(args: &MapArgs, voice: Voice) -> Result<ExitCode> {
    check_name(&args.node).map_err(|e| Usage(format!("--node: {e}")))?;
    let mut inputs = Inputs::new();
    for path in &args.logs {
        inputs.add(Some(&args.node), path)?;
    }
    let options = options::of_logs(&args.log, voice)?;
    let model = Model::read(&args.model)?;
    let query = aggregate::query(args)?;
    check_output(&args.output, &args.node, &model)?;
    let mapper = mapper(&model, &options, voice);
    let nodes = mapper.look(inputs)?;
    tell(&nodes, voice);
    if let Some(query) = query {
        return aggregate::run(args, &query, &model, mapper.hold(&nodes)?, voice);
    }
    let Written { inputs, n_accumulators } = mapper.write(&nodes, &args.output)?;
    let named = || inputs.iter().map(|(node, account)| (node.as_str(), account));
    if nodes.names().count() == 1 {
        summary::require_headers(named().map(|(_, account)| account), voice)?;
    }
    let totals = summary::Totals::of(named().map(|(_, account)| account));
    voice.say(&format!("{}: {} in {n_accumulators} accumulators", args.node, totals.sentence()));
    if !voice.quiet {
        let mut out = crate::output::stdout();
        summary::layouts::print(&mut out, named(), voice)?;
        summary::print_ids(&mut out, named().map(|(_, account)| account), &[])?;
        out.flush()?;
    }
    summary::tell_damage(named(), voice);
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

/// A mapper, with a word about templates that could not be compiled.
pub(super) fn mapper<'m>(model: &'m Model, options: &Options, voice: Voice) -> Mapper<'m> {
    let mapper = Mapper::new(model, options);
    mapper.diagnostics().iter().for_each(|diagnostic| voice.tell(&format!("  {diagnostic}")));
    mapper
}

/// Says what is left out of the logs.
pub(super) fn tell(nodes: &Nodes, voice: Voice) {
    summary::warnings::tell(nodes.warnings(), voice);
}
