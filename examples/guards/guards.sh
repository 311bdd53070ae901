#!/bin/sh
# Guards that block and warn, from the root of the repository:
#
#   sh examples/guards/guards.sh
set -eu
config=examples/guards/servers.json

echo "the rules of a tool:"
pml --config "$config" tools show demo:add_note

# What each call is refused for.
script='
  const reason = async (tool, args) => {
    const { success, error } = await callTool(tool, args);
    return success ? "sent" : (/guard `(\w+)`/.exec(error.message) ?? [, error.kind])[1];
  };
  const said = [
    await reason("demo:add_note", { title: "a", text: "b" }),
    await reason("demo:count_text", { text: "$OUTPUT[read].text" }),
    await reason("demo:count_text", { text: "see http://169.254.169.254/" }),
    await reason("demo:count_text", { text: "x", txet: "y" }),
  ];
  for (let n = 0; n < 4; n++) said.push(await reason("demo:count_text", { text: "again" }));
  return said.join(" ");'
echo "what guards say:"
pml --config "$config" run -e "$script"
