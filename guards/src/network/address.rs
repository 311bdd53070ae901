//! What an address or a name reaches: the internet, a private network, or a metadata service.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is reached, from the least harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// The internet.
    Public,
    /// This machine, its network, or an address that no server on the internet has.
    Private,
    /// A service that gives credentials to the programs of a cloud machine.
    Metadata,
}

/// The addresses of metadata services: AWS, Azure, Google, OpenStack (169.254.169.254), AWS containers,
/// Alibaba, Oracle and the wire server of Azure.
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// AWS, its container service, and Google.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

const METADATA_NAMES: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Ends of names that are no names of the internet.
const PRIVATE_ENDS: [&str; 8] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "onion",
];

/// What an address reaches. Addresses that contain another one (mapped, NAT64, 6to4) reach that.
pub(crate) fn reach_of_ip(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_of_v4(address),
        IpAddr::V6(address) => reach_of_v6(address),
    }
}

fn reach_of_v4(address: Ipv4Addr) -> Reach {
    let [a, b, c, _] = address.octets();
    if METADATA_V4.contains(&address) {
        return Reach::Metadata;
    }
    let is_private = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    match is_private {
        true => Reach::Private,
        false => Reach::Public,
    }
}

fn reach_of_v6(address: Ipv6Addr) -> Reach {
    if METADATA_V6.contains(&address) {
        return Reach::Metadata;
    }
    if let Some(embedded) = embedded(address) {
        return reach_of_v4(embedded);
    }
    let s = address.segments();
    let is_private = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        // Unique local, link local and site local.
        || s[0] & 0xfe00 == 0xfc00
        || s[0] & 0xffc0 == 0xfe80
        || s[0] & 0xffc0 == 0xfec0
        // The local prefix of NAT64, discard, Teredo, documentation, segment routing.
        || (s[0] == 0x64 && s[1] == 0xff9b && s[2] == 1)
        || (s[0] == 0x100 && s[1] == 0 && s[2] == 0 && s[3] <= 1)
        || (s[0] == 0x2001 && s[1] < 0x200)
        || (s[0] == 0x2001 && s[1] == 0xdb8)
        || (s[0] == 0x3fff && s[1] < 0x1000)
        || s[0] == 0x5f00;
    match is_private {
        true => Reach::Private,
        false => Reach::Public,
    }
}

/// The IPv4 address that an IPv6 address stands for.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        // Mapped, translated and compatible.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            Some(of(high, low))
        }
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => Some(of(high, low)),
        // ISATAP.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(of(high, low)),
        _ => None,
    }
}

/// What a name reaches, as far as the name tells. `name` is in lower case.
pub(crate) fn reach_of_name(name: &str) -> Reach {
    let name = name.trim_end_matches('.');
    if METADATA_NAMES.contains(&name) {
        return Reach::Metadata;
    }
    let ends_so = |end: &str| {
        name == end
            || name
                .strip_suffix(end)
                .is_some_and(|head| head.ends_with('.'))
    };
    // A name without a dot is one of the local network.
    match !name.contains('.') || PRIVATE_ENDS.iter().any(|end| ends_so(end)) {
        true => Reach::Private,
        false => Reach::Public,
    }
}
