/** `docs/reference/breaking-changes.md`, made from the table of rules, what their files say of them, and the fixtures. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BreakClass, breakTable, unusedIgnore } from "../../../compiler/evolve/index.js";
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
member, an endpoint, an actor or a type is always safe. [Cap'n Proto](capnp.md#schema-changes), which has places in memory
and no tags, is stricter: where both sides emit \`"capnp"\`, VC5020 says what only that layout cannot bear.

## Exit codes

0: nothing, or nothing worse than DANGEROUS. 1: a finding of another class. 2: the schemas of one side have errors. 3: bad
usage, no such commit, or no config or lock in it.

## In CI

\`\`\`sh
git fetch --depth=1 origin +main:refs/remotes/origin/main
npx viceroy compile --check
npx viceroy break --against origin/main
\`\`\`

\`compile\` and \`compile --check\` ask the rules of the wire too: see [below](#compiling-a-breaking-change). VC5020 is among them
in projects that emit \`"capnp"\`.

## Compiling a breaking change

The lock knows the shapes that others use. \`npx viceroy compile\` compares the schemas with them, and warns of each change of
the class WIRE, with its rule and place. It generates code all the same, so that you can go on working. \`npx viceroy compile
--check\` ends with 1, before and after compiling, until somebody has accepted the change or taken it back.

- With git, the shapes that others use are those in the lock of the commit that \`HEAD\` and the
  [published branch](lock-file.md#what-the-lock-is-compared-with) come from. What your branch alone has added may change as it likes.
- Without git, without such a branch, with \`--no-base\`, or if that commit has no lock, they are those in the lock on disk.

A change that is meant is accepted by its place:

\`\`\`sh
npx viceroy compile --accept Tree.age
\`\`\`

That writes the new shape into the lock, and a line that says what was accepted. Whoever reviews the branch sees it:

\`\`\`text
# viceroy lock 2 · written by \`viceroy compile\` · ids are never reused · review every change
accepted VC5001 Tree.age: its type was double and is string: neither side finds the other's value, which has another wire type
message Tree in schemas/a next=2
  1 age string
\`\`\`

The line accepts this one change: the next change of \`Tree.age\` is another. \`viceroy break\` lets it pass, too. Leave the lines
in the lock: they are its record of what was broken on purpose. \`--accept\` takes several places.

While a change waits, the lock keeps what is published and adds what is new with a plus sign, as in \`2 +urgency enum\`: the id
is taken, so that it does not move while you work, and the member is published together with the change. A lock with such lines,
or with aliases, is written in format 2, which older versions of Viceroy refuse. Locks of format 1 are read; \`viceroy compile\`
adds the aliases that they lack.

\`viceroy compile --watch\` leaves the lock alone and does not look for breaking changes.

## When a break is meant

For all classes, and for comparisons over several releases, say so in the config, with the reason; one entry lets pass what one
rule says of one place. An entry that lets nothing pass is reported (VC5090), so that it does not hide the next break of the
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

## And buf breaking

\`buf breaking\` with its category \`WIRE\` compares two states of the \`.proto\` files that \`viceroy compile\` writes. A test gives
both the same pairs of schemas, hand-made and random ones. They agree on every member, but for these:

| change | buf | \`viceroy break\` | why |
|---|---|---|---|
| an integer becomes another one of the same encoding, as \`int32\` and \`int64\` | passes | VC5001, VC5003 | one direction cuts numbers, or changes their signs |
| a string becomes bytes | passes | VC5001 | the older side refuses bytes that are no UTF-8 |
| what is required: members, \`Oneof\`s | passes | VC5004, VC5005, VC5007 | proto3 has no word for it, and readers refuse messages without |
| a tuple gets another element | passes | VC5008 | tuples keep no unknown fields |
| lists and sets, typed arrays of 8 and 16 bits, \`Date\` and \`Timestamp\` | passes | VC5010, VC5011 | what a reader drops is in no \`.proto\` |
| values of an enum swap numbers, or one enum stands for another | passes | VC5009 | each reads as the other; buf says it in \`WIRE_JSON\` |
| what a port takes, ids of actors and endpoints | passes | VC5012, VC5014, VC5016 | they are in no \`.proto\` |
| actors and endpoints go | passes | VC5013, VC5015 | calls are refused; buf says it in \`PACKAGE\` |
| an enum becomes \`Int32\`, or the other way round | breaks | passes | enums are open, and the bytes are the same; a \`NullValue\` is null, whatever the number (VC5001) |
| a type, a map or a \`Oneof\` has another name | breaks | passes, or says what is other inside | names of types are not on the wire; members with other names, which no \`@was\` explains, are VC5009 and VC5021 |
| an endpoint has another name | passes, whatever else is other | says what is other inside | endpoints are known by their ids |
| one member goes into a new \`Oneof\`, or out of it | breaks | passes | nothing that both sides know excludes it |
| an endpoint is no longer \`@idempotent\` | breaks | VC5050, class BEHAVIOUR | no byte depends on it |
| a member goes, and its number is not \`reserved\` | breaks | passes | using the number again does harm: the lock keeps it, and VC5018 and VC5019 watch over that |

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
  const rest = fixtures().filter((name) => name.startsWith(unusedIgnore.code));
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
  if (name === unusedIgnore.name) return "An entry of `break.ignore` that nothing is ignored by.";
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
