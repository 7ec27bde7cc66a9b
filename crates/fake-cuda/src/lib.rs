//! A libcuda for tests: it has CUDA's functions and no GPU.
//!
//! Its devices are called "fake", their memory is this machine's, and kernels are worked by
//! [`sealift_kernels`] from the descriptors they are given, so that results are true and times mean
//! nothing. It is as late and as strict as CUDA may be: what is put into a stream is done when
//! somebody asks for it, fresh memory holds no zeros, and an address outside of what was allocated
//! loses the device.
//!
//! A test opens a [`Fake`], gives its [`path`](Fake::path) to whatever opens libcuda, orders faults by
//! [`plan`](Fake::plan), and reads from its [`report`](Fake::report) what was left behind. The function that takes plans tells
//! `sealift_gpu` that this is no library of NVIDIA's.

mod code;
mod ffi;
mod kernels;
mod plan;
mod world;

pub use ffi::{Fake, Report};
