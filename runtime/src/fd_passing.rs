//! Passes an open file descriptor to another process over a Unix socket (`SCM_RIGHTS`).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Size of the control buffer: the header of one control message and one descriptor fit.
const CONTROL: usize = 64;

/// A control buffer, aligned as `cmsghdr` must be.
#[repr(align(8))]
struct ControlBuffer(MaybeUninit<[u8; CONTROL]>);

/// Sends a descriptor, with one byte of data that carries it.
///
/// # Errors
///
/// Those of `sendmsg`, for instance that the other side is gone.
pub fn send(socket: BorrowedFd<'_>, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let mut byte = 0u8;
    with_message(&mut byte, |message| {
        // SAFETY: `message` points to a control buffer with room for one header and one descriptor, and
        // to one byte of data; both outlive the call.
        let sent = unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(DESCRIPTOR) as _;
            libc::CMSG_DATA(header)
                .cast::<RawFd>()
                .write_unaligned(descriptor.as_raw_fd());
            (*message).msg_controllen = libc::CMSG_SPACE(DESCRIPTOR) as _;
            libc::sendmsg(socket.as_raw_fd(), message, libc::MSG_NOSIGNAL)
        };
        match sent {
            1 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    })
}

/// Waits for a descriptor. `None` when the other side has closed the socket.
///
/// # Errors
///
/// Those of `recvmsg`, and `InvalidData` for a byte without a descriptor.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    let mut byte = 0u8;
    with_message(&mut byte, |message| {
        // SAFETY: the kernel writes at most the lengths in `message`, which are those of its buffers.
        let received =
            unsafe { libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC) };
        match received {
            0 => return Ok(None),
            1 => {}
            _ => return Err(io::Error::last_os_error()),
        }
        // SAFETY: the kernel wrote the header, if there is one. The descriptor in it was opened by
        // `recvmsg` and has no other owner.
        let descriptor = unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let descriptor = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
            OwnedFd::from_raw_fd(descriptor)
        };
        Ok(Some(descriptor))
    })
}

const DESCRIPTOR: libc::c_uint = size_of::<RawFd>() as libc::c_uint;

/// Calls `use_message` with a message of one byte and an empty control buffer.
fn with_message<T>(byte: &mut u8, use_message: impl FnOnce(*mut libc::msghdr) -> T) -> T {
    let mut control = ControlBuffer(MaybeUninit::zeroed());
    let mut data = libc::iovec {
        iov_base: (&raw mut *byte).cast(),
        iov_len: 1,
    };
    // SAFETY: all-zero bytes are a valid `msghdr`: null pointers with lengths of zero.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut data;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control.0).cast();
    message.msg_controllen = CONTROL as _;
    use_message(&raw mut message)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_descriptor_arrives_and_works() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        send(here.as_fd(), far.as_fd()).unwrap();
        drop(far);
        let received = receive(there.as_fd()).unwrap().unwrap();
        near.write_all(b"hello").unwrap();
        drop(near);
        let mut text = String::new();
        UnixStream::from(received)
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn a_closed_socket_is_not_an_error() {
        let (here, there) = UnixStream::pair().unwrap();
        drop(here);
        assert!(receive(there.as_fd()).unwrap().is_none());
    }

    #[test]
    fn a_byte_without_a_descriptor_is_an_error() {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(&[0]).unwrap();
        assert!(receive(there.as_fd()).is_err());
    }
}
