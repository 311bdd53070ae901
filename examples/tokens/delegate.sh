#!/bin/sh
# Delegation with capability tokens, from the root of the repository:
#
#   sh examples/tokens/delegate.sh
#
# A parent may list and read files. It gives a child a token that may read, twice.
set -eu
config=examples/tokens/servers.json

parent=$(pml token mint --allow 'demo:list_*' --allow 'demo:read_*' --principal parent --expires 10m)
child=$(pml token attenuate "$parent" --allow demo:read_json --budget calls=2)

echo "tools of the parent:"
PML_CAPABILITY="$parent" pml --config "$config" tools
echo "tools of the child:"
PML_CAPABILITY="$child" pml --config "$config" tools

# Three calls, of which the last is over the budget of the child.
script='
  const { success, error } = await callTool("demo:read_json", { path: "services/billing.json" });
  return success ? "read" : `${error.kind}`'
for _ in 1 2 3; do
  PML_CAPABILITY="$child" pml --config "$config" run -e "$script"
done

# What ends the parent ends the child.
pml token revoke "$parent" >/dev/null
PML_CAPABILITY="$child" pml --config "$config" tools 2>/dev/null || echo "the child is revoked"
