// kind: ok
// result: "\n```\nstolen\n```\n"
export default `
\`\`\`
stolen
\`\`\`
`;
