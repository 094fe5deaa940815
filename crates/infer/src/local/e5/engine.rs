//! Which kernels run a container, and the runner over them.
//!
//! The fastest kernels of this machine that suit the model are taken. [`KERNELS_VARIABLE`] names
//! others, for measurements and for finding out whether a kernel is to blame.

use model::Deadline;

use crate::Result;
use crate::local::container::Container;
use crate::local::encoder::Encoder;
#[cfg(target_arch = "x86_64")]
use crate::local::int8::Int8Encoder;
use crate::local::kernels::Level;
#[cfg(target_arch = "x86_64")]
use crate::local::kernels::{Int8Kernel, Madd, Vnni};
use crate::local::product::DEPTH_PADDING;
use crate::local::runner::{Runner, Urgency};
use crate::local::vectorised::Bf16;

/// The environment variable that names the kernels to take instead of the fastest.
pub const KERNELS_VARIABLE: &str = "DOWSE_KERNELS";

/// Kernels that this machine has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernels {
    /// Products of f32, or of bf16 where the level has tiles.
    Plain(Level),
    #[cfg(target_arch = "x86_64")]
    Madd(Madd),
    #[cfg(target_arch = "x86_64")]
    Vnni(Vnni),
}

impl Kernels {
    /// Gives all kernels of this machine, the slowest first.
    fn of_machine() -> Vec<Kernels> {
        let mut all: Vec<Kernels> = Level::available().into_iter().map(Kernels::Plain).collect();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Madd::detect().map(Kernels::Madd));
            all.extend(Vnni::detect().map(Kernels::Vnni));
        }
        all
    }

    /// Tells whether they can run a model.
    fn suit(self, container: &Container) -> bool {
        let head_size = container.shape.hidden / container.shape.n_heads;
        match self {
            // Tiles read the columns of a head in whole steps.
            Kernels::Plain(level) => !level.has_tiles() || head_size.is_multiple_of(DEPTH_PADDING),
            #[cfg(target_arch = "x86_64")]
            Kernels::Madd(_) => Int8Encoder::<Madd>::fits(container),
            #[cfg(target_arch = "x86_64")]
            Kernels::Vnni(_) => Int8Encoder::<Vnni>::fits(container),
        }
    }

    /// Gives all kernels of this machine that suit a model, the slowest first.
    pub(crate) fn available(container: &Container) -> Vec<Kernels> {
        let mut all = Kernels::of_machine();
        all.retain(|kernels| kernels.suit(container));
        all
    }

    /// Gives the kernels that the environment names, or the fastest.
    ///
    /// Fails when the environment names some that are not here.
    pub(crate) fn choose(container: &Container) -> Result<Kernels> {
        // A variable that is empty is as good as none.
        if let Some(wanted) = std::env::var_os(KERNELS_VARIABLE).filter(|name| !name.is_empty()) {
            return Kernels::named(container, &wanted.to_string_lossy());
        }
        let available = Kernels::available(container);
        Ok(available.last().copied().expect("the portable kernels are always there"))
    }

    /// Gives kernels by name.
    ///
    /// Fails when they are not here, or do not suit the model.
    pub(crate) fn named(container: &Container, wanted: &str) -> Result<Kernels> {
        let available = Kernels::available(container);
        available.iter().find(|kernels| kernels.name() == wanted).copied().ok_or_else(|| {
            let names: Vec<&str> = available.iter().map(|kernels| kernels.name()).collect();
            container.unusable(format!(
                "{KERNELS_VARIABLE} is `{wanted}`; this machine has `{}` for it",
                names.join("`, `")
            ))
        })
    }

    /// Gives the name for reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kernels::Plain(level) => level.name(),
            #[cfg(target_arch = "x86_64")]
            Kernels::Madd(kernel) => kernel.name(),
            #[cfg(target_arch = "x86_64")]
            Kernels::Vnni(kernel) => kernel.name(),
        }
    }
}

/// Gives the names that [`KERNELS_VARIABLE`] takes on this machine, the slowest first. A model may
/// suit fewer of them.
pub fn kernel_names() -> Vec<&'static str> {
    Kernels::of_machine().into_iter().map(Kernels::name).collect()
}

/// A loaded encoder with its working memory.
#[derive(Debug)]
pub(crate) enum Engine {
    Plain(Runner<Encoder<f32>>),
    Bf16(Runner<Encoder<Bf16>>),
    #[cfg(target_arch = "x86_64")]
    Madd(Runner<Int8Encoder<Madd>>),
    #[cfg(target_arch = "x86_64")]
    Vnni(Runner<Int8Encoder<Vnni>>),
}

/// Does the same with every kind of encoder.
macro_rules! with_runner {
    ($engine:expr, $runner:ident => $result:expr) => {
        match $engine {
            Engine::Plain($runner) => $result,
            Engine::Bf16($runner) => $result,
            #[cfg(target_arch = "x86_64")]
            Engine::Madd($runner) => $result,
            #[cfg(target_arch = "x86_64")]
            Engine::Vnni($runner) => $result,
        }
    };
}

impl Engine {
    /// Packs the weights of a container.
    ///
    /// Fails when a tensor is missing or too small.
    pub(crate) fn load(container: &Container, kernels: Kernels) -> Result<Self> {
        Ok(match kernels {
            Kernels::Plain(level) if level.has_tiles() => {
                Engine::Bf16(Runner::new(Encoder::load(container, level)?))
            }
            Kernels::Plain(level) => Engine::Plain(Runner::new(Encoder::load(container, level)?)),
            #[cfg(target_arch = "x86_64")]
            Kernels::Madd(kernel) => {
                Engine::Madd(Runner::new(Int8Encoder::load(container, kernel)?))
            }
            #[cfg(target_arch = "x86_64")]
            Kernels::Vnni(kernel) => {
                Engine::Vnni(Runner::new(Int8Encoder::load(container, kernel)?))
            }
        })
    }

    /// Counts the bytes of the packed weights.
    pub(crate) fn n_packed_bytes(&self) -> usize {
        with_runner!(self, runner => runner.encoder.n_packed_bytes())
    }

    /// Runs texts of tokens; see [`Runner::run`].
    pub(crate) fn run<R: Send>(
        &self,
        texts: &[&[u32]],
        n_threads: usize,
        urgency: Urgency,
        deadline: &Deadline,
        finish: impl Fn(usize, &[f32]) -> R + Sync,
    ) -> Result<Vec<R>> {
        with_runner!(self, runner => runner.run(texts, n_threads, urgency, deadline, finish))
    }
}
