//! The system-call filter: it allows what V8 and the event loop need, and nothing that reaches outside
//! the process.
//!
//! Every other call fails with EPERM. It does not kill the process: a call that a new version of V8
//! makes then costs a feature, not every run.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter_all_threads,
};

/// Memory, time, locks, the open socket, and exit.
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
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
];

/// What a map may be besides private and anonymous: at an address of V8's choice, reserved without
/// commitment, a stack of a thread (which Linux treats like any other map). Everything else is
/// refused, above all what no rlimit counts: shared memory, maps that grow down like the first stack
/// (MAP_GROWSDOWN), huge pages, locked and pre-faulted memory.
const MAP_OPTIONS: libc::c_int =
    libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE | libc::MAP_STACK;

/// The protection bits of memory. PROT_GROWSDOWN and the like are not among them.
fn allowed_protection(jit: bool) -> libc::c_int {
    let data = libc::PROT_READ | libc::PROT_WRITE;
    match jit {
        true => data | libc::PROT_EXEC,
        false => data,
    }
}

/// Applies the filter to all threads.
pub fn filter(jit: bool) -> Result<(), String> {
    let program = program(jit).map_err(|error| error.to_string())?;
    apply_filter_all_threads(&program).map_err(|error| error.to_string())
}

fn program(jit: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    // Flags are pinned: `mmap` to those that V8 and the allocator use, `sendto` to MSG_NOSIGNAL (no
    // MSG_OOB), `recvfrom` to none, `timerfd_settime` to relative timers.
    let protection = masked(2, !allowed_protection(jit), 0)?;
    let map = vec![
        masked(3, !MAP_OPTIONS, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)?,
        protection.clone(),
    ];
    let protect = vec![SeccompRule::new(vec![protection])?];
    if jit {
        rules.insert(libc::SYS_pkey_mprotect, protect.clone());
    }
    let send = vec![masked(3, ALL, libc::MSG_NOSIGNAL)?];
    let receive = vec![masked(3, ALL, 0)?];
    let set_timer = vec![masked(1, ALL, 0)?];
    rules.insert(libc::SYS_mmap, vec![SeccompRule::new(map)?]);
    rules.insert(libc::SYS_mprotect, protect);
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(send)?]);
    rules.insert(libc::SYS_recvfrom, vec![SeccompRule::new(receive)?]);
    rules.insert(
        libc::SYS_timerfd_settime,
        vec![SeccompRule::new(set_timer)?],
    );
    // `abort` signals its own process.
    rules.insert(
        libc::SYS_tgkill,
        vec![SeccompRule::new(vec![is_own_pid()?])?],
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

/// A mask of all bits.
const ALL: libc::c_int = -1;

/// The condition that an argument, masked with `bits`, has this value.
fn masked(
    argument: u8,
    bits: libc::c_int,
    value: libc::c_int,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(u64::from(bits.cast_unsigned())),
        u64::from(value.cast_unsigned()),
    )
}

/// The condition that the first argument is the pid of this process.
fn is_own_pid() -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::from(std::process::id()),
    )
}
