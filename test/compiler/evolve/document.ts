/** Generates `docs/reference/breaking-changes.md` from the table of rules, the comments of their files, and the fixtures. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BreakClass, breakTable, unusedIgnore } from "../../../compiler/evolve/index.js";
import { expectedOf, fixtures, inputsOf } from "./fixtures.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const head = `# Breaking changes

\`viceroy break\` compares the schemas of a project with an older state, in a git commit or in another folder. It reports each
change that breaks other processes, stored data, code or callers.

\`\`\`sh
npx viceroy break --against origin/main
npx viceroy break --against ../released --class WIRE
\`\`\`

The command reads the schema files and the lock of both sides, and does not change the working tree. It identifies members by
their ids, so that a renamed member is not reported as one that was removed and one that was added. Every finding has a code, a
position and a text, and where possible a fix. If the member no longer exists, the position is in the older files. With
\`--json\` each finding is one line: \`{code, severity, file, line, column, text, fix?, class?, place, older?}\`.

## The four classes

| class | what breaks | severity |
|---|---|---|
| \`WIRE\` | processes with the older and the newer schema, and stored data: one side refuses a value that the other has written, or reads another value | error |
| \`SOURCE\` | code that does not compile any more, or JSON whose names have changed | error |
| \`BEHAVIOUR\` | callers that receive another answer to the same call | error |
| \`DANGEROUS\` | possibly nothing, but the change should be examined | warning |

Rules of the class WIRE compare the [protobuf layout](protobuf-layout.md) of both sides, in both directions, because both sides
write during a rolling upgrade. Two processes with different schemas apply the same rules when they connect. Members that only
one side knows are not reported: unknown fields are kept, enums are open, and unknown variants arrive as \`$unknown\`. Adding an
optional member, an endpoint, an actor, a task or a type is always safe. Changes of tasks are not in this class: a worker
process refuses a task whose declaration differs from its own, and names both fingerprints. [Cap'n Proto](capnp.md#schema-changes) has positions in memory
instead of tags, and permits fewer changes. If both sides emit \`"capnp"\`, VC5020 reports changes that only this layout does not
permit.

## Exit codes

| code | meaning |
|--:|---|
| 0 | no finding, or only findings of the class DANGEROUS |
| 1 | a finding of another class |
| 2 | the schemas of one side have errors |
| 3 | wrong usage, a commit that does not exist, or a commit without a config or a lock |

## In CI

\`\`\`sh
git fetch --depth=1 origin +main:refs/remotes/origin/main
npx viceroy compile --check
npx viceroy break --against origin/main
\`\`\`

\`compile\` and \`compile --check\` also apply the rules of the class WIRE: see [below](#compiling-a-breaking-change). In projects
that emit \`"capnp"\`, these include VC5020.

## Compiling a breaking change

The lock contains the shapes that others use. \`npx viceroy compile\` compares the schemas with them, and warns of each change of
the class WIRE, with its rule and place. It generates code all the same, so that work can continue. \`npx viceroy compile --check\`
exits with 1, before and after compiling, until the change has been accepted or undone.

- With git, the shapes that others use are those in the lock of the merge base of \`HEAD\` and the
  [published branch](lock-file.md#what-the-lock-is-compared-with). Members that only the current branch has added can change freely.
- Without git, without such a branch, with \`--no-base\`, or if that commit has no lock, they are those in the lock on disk.

To accept an intended change, name its place:

\`\`\`sh
npx viceroy compile --accept Tree.age
\`\`\`

The command writes the new shape into the lock, and a line that describes the accepted change. Reviewers of the branch see the
line:

\`\`\`text
# viceroy lock 2 · written by \`viceroy compile\` · ids are never reused · review every change
accepted VC5001 Tree.age: its type was double and is string: neither side finds the other's value, which has another wire type
message Tree in schemas/a next=2
  1 age string
\`\`\`

The line accepts only this change; the next change of \`Tree.age\` must be accepted again. \`viceroy break\` also ignores an accepted
change. Keep the lines in the lock: they record which changes were intended. \`--accept\` takes several places.

While a change is not accepted, the lock keeps the published shape, and new members have a plus sign: \`2 +urgency enum\`. The id of
such a member is reserved and does not change any more. The member is published together with the change. A lock with such lines,
with aliases or with tasks has format 2, which older versions of Viceroy refuse. Viceroy reads locks of format 1, and \`viceroy compile\` adds
their missing aliases.

\`viceroy compile --watch\` neither changes the lock nor reports breaking changes.

## Ignoring intended changes

The config can list intended changes of all classes, also for comparisons over several releases. Each entry has a reason, and ignores the
findings of one rule at one place. An entry that ignores nothing is reported (VC5090), so that it cannot hide a later change of the same
place.

\`\`\`ts
import { defineConfig } from "viceroy/compiler";

export default defineConfig({
  schemas: "schemas/**/*.ts",
  break: {
    ignore: [{ code: "VC5035", place: "Tree.age", reason: "Nobody outside of this repository reads it." }],
  },
});
\`\`\`

## Comparison with buf breaking

\`buf breaking\` with its category \`WIRE\` compares two states of the \`.proto\` files that \`viceroy compile\` writes. A test gives the
same pairs of schemas, written by hand and generated at random, to both commands. They agree on every member, with these exceptions:

| change | buf | \`viceroy break\` | reason |
|---|---|---|---|
| an integer type changes to another one with the same encoding, such as \`int32\` to \`int64\` | passes | VC5001, VC5003 | in one direction, numbers are truncated or change their signs |
| a string changes to bytes | passes | VC5001 | the older side refuses bytes that are not UTF-8 |
| a required member or \`Oneof\` is added, removed or made required | passes | VC5004, VC5005, VC5007 | proto3 has no required members, and readers refuse messages without them |
| a tuple gets another element | passes | VC5008 | tuples keep no unknown fields |
| lists and sets, typed arrays of 8 and 16 bits, \`Date\` and \`Timestamp\` replace each other | passes | VC5010, VC5011 | \`.proto\` files do not show what a reader drops |
| values of an enum swap numbers, or one enum replaces another | passes | VC5009 | each value is read as the other; buf reports this in \`WIRE_JSON\` |
| the type of a port, or the id of an actor or endpoint changes | passes | VC5012, VC5014, VC5016 | \`.proto\` files do not contain them |
| an actor or endpoint is removed | passes | VC5013, VC5015 | calls are refused; buf reports this in \`PACKAGE\` |
| an enum changes to \`Int32\`, or the reverse | breaks | passes | enums are open, and the bytes are the same; a \`NullValue\` is null, whatever its number (VC5001) |
| a type, a map or a \`Oneof\` gets another name | breaks | passes, or reports differences inside | names of types are not sent; members with other names that no \`@was\` explains are VC5009 and VC5021 |
| an endpoint gets another name | passes, also if the endpoint has other differences | reports these differences | endpoints are identified by their ids |
| one member moves into a new \`Oneof\`, or out of it | breaks | passes | no member that both sides know excludes it |
| an endpoint is no longer \`@idempotent\` | breaks | VC5050, class BEHAVIOUR | no byte depends on it |
| a member is removed, and its number is not \`reserved\` | breaks | passes | only a reused number does harm: the lock keeps the number, and VC5018 and VC5019 report its reuse |

The rest of this page is generated from the rules and their fixtures: \`VICEROY_UPDATE=1 npx vitest run test/compiler/evolve\`.
`;

const titles: Readonly<Record<BreakClass, string>> = {
  WIRE: "WIRE: older and newer processes misread each other",
  SOURCE: "SOURCE: code does not compile any more",
  BEHAVIOUR: "BEHAVIOUR: the same call has another answer",
  DANGEROUS: "DANGEROUS: changes to examine",
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
  const rest = fixtures().filter((name) => name.startsWith(unusedIgnore.code));
  parts.push("## Findings about the configuration\n", ...rest.map(section));
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
    // The anchor of this heading is the one that `breakAnchor` returns.
    `### ${code}: ${name.replaceAll("-", " ")}\n`,
    `${describe(name)}\n`,
    ...inputsOf(fixture, "old").map((input) => quote("Before", input)),
    ...after.map((input) => quote("After", input)),
    `${fence}text\n${said}\n${fence}\n`,
  ].join("\n");
}

const fence = "```";

function quote(when: string, { name, text }: { readonly name: string; readonly text: string }): string {
  // Not "ts": code in such a fence must compile.
  const language = name.endsWith(".ts") ? "typescript" : "text";
  return `${when}, \`${name}\`:\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
}

/** Returns the comment at the top of the file of a rule. */
function describe(name: string): string {
  if (name === unusedIgnore.name) return "Reports an entry of `break.ignore` that ignores nothing.";
  const folders = ["shared/evolution/rules", "compiler/evolve/rules"].map((folder) => path.join(root, folder));
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
