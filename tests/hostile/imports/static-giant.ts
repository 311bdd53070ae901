// kind: denied
export * from "file:///a/../b/../c/../d/%2e%2e/%00/\0";
