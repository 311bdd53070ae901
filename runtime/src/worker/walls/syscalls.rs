//! The system-call filter: what V8 and the event loop need to run, and nothing that reaches
//! outside the process.
//!
//! Anything else fails with EPERM instead of killing the process: a call that a new V8 makes in
//! passing then costs a feature, not every run.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter_all_threads,
};

/// Memory, time, locks, the socket that is already open, and the way out.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_pkey_mprotect,
    libc::SYS_read,
    libc::SYS_recvfrom,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendto,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
];

/// Allowed with conditions on `prot`, their third argument.
const MAPPING: &[libc::c_long] = &[libc::SYS_mmap, libc::SYS_mprotect];

pub fn filter(jit: bool) -> Result<(), String> {
    let program = program(jit).map_err(|error| error.to_string())?;
    apply_filter_all_threads(&program).map_err(|error| error.to_string())
}

fn program(jit: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    for call in MAPPING {
        let conditions = if jit {
            Vec::new()
        } else {
            vec![SeccompRule::new(vec![not_executable()?])?]
        };
        rules.insert(*call, conditions);
    }
    if !jit {
        rules.remove(&libc::SYS_pkey_mprotect);
    }
    // `abort` signals its own process; nobody else's.
    rules.insert(
        libc::SYS_tgkill,
        vec![SeccompRule::new(vec![to_myself()?])?],
    );
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(
        rules,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
        arch,
    )?
    .try_into()
}

fn not_executable() -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        2,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64),
        0,
    )
}

fn to_myself() -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::from(std::process::id()),
    )
}
