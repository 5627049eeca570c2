/** `docs/reference/diagnostics.md`, made from the table and the fixtures. */
import { diagnosticTable, renderDiagnostic } from "../../../compiler/diagnostics/index.js";
import { expectedOf, fixtures, inputsOf } from "./fixtures.js";

const groups: Readonly<Record<string, string>> = {
  VC10: "Files and imports",
  VC11: "Types",
  VC12: "Declarations, actors, endpoints",
  VC13: "Tags",
  VC20: "The lock",
  VC30: "Generated files",
  VC40: "Configuration, and notations other than TypeScript",
};

const head = `# Diagnostics

What \`viceroy compile\` says of schemas, the lock and generated code, with an example of each. All problems of a run are
reported together. With \`--json\` each is one line: \`{code, severity, file, line, column, text, fix?}\`.

Errors in schemas end the command with code 2; with \`--check\`, what is out of step ends it with 1, and VC2007 is an error
too. This page is made from the table of diagnostics and its fixtures: \`VICEROY_UPDATE=1 npx vitest run
test/compiler/diagnostics\`.
`;

export function diagnosticsPage(): string {
  const parts = [head];
  for (const [group, title] of Object.entries(groups)) {
    parts.push(`## ${title}\n`);
    parts.push(
      ...fixtures()
        .filter((fixture) => fixture.startsWith(group))
        .map(section),
    );
  }
  return parts.join("\n");
}

function section(fixture: string): string {
  const code = fixture.slice(0, 6) as keyof typeof diagnosticTable;
  const inputs = inputsOf(fixture);
  const textOf = (file: string) => inputs.find(({ name }) => name === file)?.text;
  const found = expectedOf(fixture)
    .filter((diagnostic) => diagnostic.code === code)
    .map((diagnostic) => renderDiagnostic(diagnostic, { color: false, textOf }).replace(/\n {2}see .*$/, ""));
  return [
    // Its anchor is that of `diagnosticAnchor`.
    `### ${code}: ${diagnosticTable[code].slug.replaceAll("-", " ")}\n`,
    ...inputs.map(({ name, text }) => `\`${name}\`:\n\n${fence}${languageOf(name)}\n${text.trimEnd()}\n${fence}\n`),
    `${fence}text\n${found.join("\n")}\n${fence}\n`,
  ].join("\n");
}

const fence = "```";

function languageOf(name: string): string {
  // Not "ts": what stands in a fence of that kind must compile.
  return name.endsWith(".ts") ? "typescript" : "text";
}
