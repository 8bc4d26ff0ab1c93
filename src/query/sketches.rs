//! Sketches that are values: small summaries of many values, in a column, that merge. Those of
//! hours become that of a day, those of nodes that of all, without the rows they were made of.
//!
//! | aggregate | gives | read by |
//! |---|---|---|
//! | `distinct_sketch(x)`, `distinct_merge(sketch)` | HyperLogLog of 4,096 registers | `distinct_estimate(sketch)` |
//! | `quantile_sketch(x)`, `quantile_merge(sketch)` | DDSketch of 1 % | `quantile_estimate(sketch, q)` |
//!
//! What is estimated does not depend on the order in which values came, nor on how they were
//! divided: registers are maxima, and bins are sums. The estimate of how many are different has
//! a standard error of 1.04 / √4096, that is 1.6 %; a quantile is within 1 % of the value that has
//! its rank, as DDSketch (Masson, Rim, Lee; VLDB 2019) guarantees, unless values lie further
//! apart than 10^17, where the lowest ones are taken together.
//!
//! The bytes of a sketch are those that other programs of its kind read: Apache DataSketches,
//! and the Java library of DDSketch.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, Float64Builder, Int64Builder, StringArray,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use sketches_ddsketch::{Config, DDSketch};

/// Two to this power are the registers of a sketch of different values.
const LG_REGISTERS: u8 = 12;

/// The aggregates.
pub(super) fn aggregates() -> Vec<AggregateUDF> {
    [
        ("distinct_sketch", Kind::Distinct, Of::Values),
        ("distinct_merge", Kind::Distinct, Of::Sketches),
        ("quantile_sketch", Kind::Quantiles, Of::Values),
        ("quantile_merge", Kind::Quantiles, Of::Sketches),
    ]
    .into_iter()
    .map(|(name, kind, of)| {
        AggregateUDF::from(SketchOf {
            name,
            kind,
            of,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    })
    .collect()
}

/// The functions that read a sketch.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let signature = || Signature::user_defined(Volatility::Immutable);
    vec![
        ScalarUDF::from(Estimate { name: "distinct_estimate", kind: Kind::Distinct, signature: signature() }),
        ScalarUDF::from(Estimate {
            name: "quantile_estimate",
            kind: Kind::Quantiles,
            signature: signature(),
        }),
    ]
}

/// What a sketch is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Distinct,
    Quantiles,
}

/// What an aggregate takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Of {
    Values,
    Sketches,
}

/// A sketch while it is made.
enum Sketch {
    Distinct(HllUnion),
    Quantiles(Box<DDSketch>),
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sketch::Distinct(_) => "Distinct",
            Sketch::Quantiles(_) => "Quantiles",
        })
    }
}

impl Sketch {
    fn new(kind: Kind) -> Result<Self> {
        Ok(match kind {
            Kind::Distinct => {
                Sketch::Distinct(HllUnion::new(LG_REGISTERS).map_err(|e| exec_datafusion_err!("{e}"))?)
            }
            Kind::Quantiles => Sketch::Quantiles(Box::new(DDSketch::new(Config::defaults()))),
        })
    }

    /// Adds the values of a column, as [`SketchOf::coerce_types`] makes them.
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        match self {
            Sketch::Distinct(union) => {
                let texts = values.as_string_opt::<i32>();
                let texts: &StringArray = texts.ok_or_else(|| exec_datafusion_err!("texts were expected"))?;
                texts.iter().flatten().for_each(|text| union.update_value(text));
            }
            Sketch::Quantiles(sketch) => {
                let numbers = values.as_primitive_opt::<Float64Type>();
                let numbers = numbers.ok_or_else(|| exec_datafusion_err!("numbers were expected"))?;
                // What is no number, or endless, has no rank.
                numbers.iter().flatten().filter(|x| x.is_finite()).for_each(|number| sketch.add(number));
            }
        }
        Ok(())
    }

    /// Adds the sketches of a column.
    fn merge(&mut self, sketches: &ArrayRef) -> Result<()> {
        let Some(sketches) = sketches.as_binary_opt::<i32>() else {
            return exec_err!("sketches were expected");
        };
        for bytes in sketches.iter().flatten() {
            match self {
                Sketch::Distinct(union) => union.update(&distinct(bytes)?),
                Sketch::Quantiles(sketch) => {
                    let other = quantiles(bytes)?;
                    sketch
                        .merge(&other)
                        .map_err(|_| exec_datafusion_err!("a sketch of another precision"))?;
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Sketch::Distinct(union) => union.to_sketch(HllType::Hll8).serialize(),
            Sketch::Quantiles(sketch) => sketch.to_java_bytes(),
        }
    }
}

fn distinct(bytes: &[u8]) -> Result<HllSketch> {
    HllSketch::deserialize(bytes).map_err(|e| exec_datafusion_err!("no sketch of different values: {e}"))
}

fn quantiles(bytes: &[u8]) -> Result<DDSketch> {
    DDSketch::from_java_bytes(bytes).map_err(|e| exec_datafusion_err!("no sketch of quantiles: {e}"))
}

impl Accumulator for Sketch {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Binary(Some(self.bytes())))
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + match self {
                Sketch::Distinct(union) => union.estimated_size(),
                Sketch::Quantiles(sketch) => size_of::<DDSketch>() + sketch.length() * size_of::<u64>(),
            }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.merge(&states[0])
    }
}

/// An accumulator of sketches instead of values.
#[derive(Debug)]
struct Merging(Sketch);

impl Accumulator for Merging {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.merge(&values[0])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.evaluate()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge_batch(states)
    }
}

/// An aggregate that gives a sketch.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SketchOf {
    name: &'static str,
    kind: Kind,
    of: Of,
    signature: Signature,
}

impl AggregateUDFImpl for SketchOf {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [one] = types else { return plan_err!("`{}` takes one column", self.name) };
        Ok(vec![match (self.of, self.kind) {
            (Of::Sketches, _) if *one == DataType::Binary || one.is_null() => DataType::Binary,
            (Of::Sketches, _) => return plan_err!("`{}` takes a column of sketches, not {one}", self.name),
            (Of::Values, Kind::Distinct) if !one.is_nested() => DataType::Utf8,
            (Of::Values, Kind::Quantiles) if one.is_numeric() || one.is_null() => DataType::Float64,
            (Of::Values, Kind::Distinct) => {
                return plan_err!("`{}` takes one value a row, not {one}", self.name);
            }
            (Of::Values, Kind::Quantiles) => return plan_err!("`{}` takes numbers, not {one}", self.name),
        }])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "sketch"), DataType::Binary, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let sketch = Sketch::new(self.kind)?;
        Ok(match self.of {
            Of::Values => Box::new(sketch),
            Of::Sketches => Box::new(Merging(sketch)),
        })
    }
}

/// What a sketch says.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Estimate {
    name: &'static str,
    kind: Kind,
    signature: Signature,
}

impl ScalarUDFImpl for Estimate {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let is_sketch = |one: &DataType| *one == DataType::Binary || one.is_null();
        match (self.kind, types) {
            (Kind::Distinct, [sketch]) if is_sketch(sketch) => Ok(vec![DataType::Binary]),
            (Kind::Quantiles, [sketch, q]) if is_sketch(sketch) && q.is_numeric() => {
                Ok(vec![DataType::Binary, DataType::Float64])
            }
            (Kind::Distinct, _) => plan_err!("`{}` takes a sketch", self.name),
            (Kind::Quantiles, _) => plan_err!("`{}` takes a sketch and a number from 0 to 1", self.name),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::Distinct => DataType::Int64,
            Kind::Quantiles => DataType::Float64,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let Some(sketches) = columns[0].as_binary_opt::<i32>() else {
            return exec_err!("sketches were expected");
        };
        if self.kind == Kind::Distinct {
            let mut out = Int64Builder::new();
            for bytes in sketches {
                // Of registers alone: another estimate would depend on the order of values.
                let estimate = bytes.map(|bytes| distinct(bytes).map(|sketch| sketch.composite_estimate()));
                out.append_option(estimate.transpose()?.map(|number| number.round() as i64));
            }
            return Ok(ColumnarValue::Array(Arc::new(out.finish())));
        }
        let ranks = columns[1].as_primitive::<Float64Type>();
        let mut out = Float64Builder::new();
        for (row, bytes) in sketches.iter().enumerate() {
            let (Some(bytes), true) = (bytes, ranks.is_valid(row)) else {
                out.append_null();
                continue;
            };
            let Ok(value) = quantiles(bytes)?.quantile(ranks.value(row)) else {
                return exec_err!("`{}` takes a number from 0 to 1, not {}", self.name, ranks.value(row));
            };
            out.append_option(value);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}
