/** `docs/breaking-changes.md`, made from the table of rules, what their files say of them, and the fixtures. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BreakClass, breakTable, ignoredForNothing } from "../../../compiler/evolve/index.js";
import { expectedOf, fixtures, inputsOf } from "./fixtures.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const head = `# Breaking changes

What may change in a schema that others already use? \`viceroy break\` compares the schemas of a project with what they were
in a git commit, or are in another folder, and says what of the change hurts whom.

\`\`\`sh
npx viceroy break --against origin/main
npx viceroy break --against ../released --class WIRE
\`\`\`

Both sides are read from schema files and lock; members are known by their ids, so that a rename is a rename and not one that
went and one that came. The working tree is not touched. Every finding has a code, a position, a text and, where there is
one, a fix; the position is in the older files where what it speaks of has gone. With \`--json\` each is one line:
\`{code, severity, file, line, column, text, fix?, class?, place, older?}\`.

## The four classes

| class | who is hurt | severity |
|---|---|---|
| \`WIRE\` | processes of the older and the newer schema, and what has been written down: some value that one side writes is refused by the other, or read as something else | error |
| \`SOURCE\` | people whose code no longer compiles, or whose JSON has other names | error |
| \`BEHAVIOUR\` | callers who get another answer to the same call | error |
| \`DANGEROUS\` | nobody for certain, but it is worth a look | warning |

Rules of the class WIRE compare the [protobuf layout](protobuf-layout.md) of both sides, in both directions, since in a
rolling upgrade both sides write. Two processes whose schemas differ ask the same rules when they meet. What one side alone
knows is no difference: unknown fields are kept, enums are open, and unknown variants arrive as \`$unknown\`. Adding an optional
member, an endpoint, an actor or a type is always safe.

## Exit codes

0: nothing, or nothing worse than DANGEROUS. 1: a finding of another class. 2: the schemas of one side have errors. 3: bad
usage, no such commit, or no config or lock in it.

## In CI

\`\`\`sh
git fetch --depth=1 origin main
npx viceroy compile --check
npx viceroy break --against origin/main
\`\`\`

\`compile --check\` asks the rules of the wire too, of the sources against the lock beside them: a type that has been changed
by mistake is found before the lock is written anew.

## When a break is meant

Say so in the config, with the reason; one entry lets pass what one rule says of one place. An entry that lets nothing pass is
reported (VC5090), so that it does not hide the next break of the place.

\`\`\`ts
import { defineConfig } from "viceroy/compiler";

export default defineConfig({
  schemas: "schemas/**/*.ts",
  break: {
    ignore: [{ code: "VC5035", place: "Tree.age", reason: "Nobody outside of this repository reads it." }],
  },
});
\`\`\`

Everything below is made from the rules and their fixtures: \`VICEROY_UPDATE=1 npx vitest run test/compiler/evolve\`.
`;

const titles: Readonly<Record<BreakClass, string>> = {
  WIRE: "WIRE: older and newer processes misread each other",
  SOURCE: "SOURCE: code no longer compiles",
  BEHAVIOUR: "BEHAVIOUR: the same call, another answer",
  DANGEROUS: "DANGEROUS: worth a look",
};

export function breakingPage(): string {
  const parts = [head];
  for (const [of, title] of Object.entries(titles)) {
    const codes = [...breakTable.values()].filter((entry) => entry.class === of).map(({ code }) => code);
    parts.push(
      `## ${title}\n`,
      ...fixtures()
        .filter((name) => codes.includes(name.slice(0, 6)))
        .map(section),
    );
  }
  const rest = fixtures().filter((name) => name.startsWith(ignoredForNothing.code));
  parts.push("## Of the command itself\n", ...rest.map(section));
  return parts.join("\n");
}

function section(fixture: string): string {
  const code = fixture.slice(0, 6);
  const name = fixture.slice(7);
  const after = inputsOf(fixture, "new");
  const said = expectedOf(fixture)
    .replace(/\n {2}see .*/g, "")
    .replace(/\nexit code \d\n$/, "");
  return [
    // Its anchor is that of `breakAnchor`.
    `### ${code}: ${name.replaceAll("-", " ")}\n`,
    `${describe(name)}\n`,
    ...inputsOf(fixture, "old").map((input) => quote("Before", input)),
    ...after.map((input) => quote("After", input)),
    `${fence}text\n${said}\n${fence}\n`,
  ].join("\n");
}

const fence = "```";

function quote(when: string, { name, text }: { readonly name: string; readonly text: string }): string {
  // Not "ts": what stands in a fence of that kind must compile.
  const language = name.endsWith(".ts") ? "typescript" : "text";
  return `${when}, \`${name}\`:\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
}

/** The comment at the top of the rule's file. */
function describe(name: string): string {
  if (name === ignoredForNothing.name) return "An entry of `break.ignore` that nothing is ignored by.";
  const folders = ["schemas/evolution/rules", "compiler/evolve/rules"].map((folder) => path.join(root, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => path.join(folder, file)),
  );
  const file = files.find((candidate) => path.basename(candidate) === `${name}.ts`);
  if (file === undefined) throw new Error(`cannot find the file of the rule ${name}`);
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trim())
    .filter((line) => line !== "")
    .join("\n");
}
