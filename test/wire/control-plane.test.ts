/**
 * The generated codecs of Viceroy's own actors do the same as the codecs composed of the same parts: with valid and invalid
 * values, and with bytes that no codec wrote.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as hostAgent from "../../generated/host-agent.js";
import * as procAgent from "../../generated/proc-agent.js";
import * as rdma from "../../generated/rdma.js";
import * as supervision from "../../generated/supervision.js";
import * as tensor from "../../generated/tensor.js";
import type { ActorDescriptor, Codec } from "../../runtime/wire/index.js";
import { structureOf } from "../../runtime/wire/protobuf/message-structure.js";
import { protoFormOf } from "../../runtime/wire/protobuf/proto-form.js";
import { compareCodecs, isGenerated } from "./compare-codecs.js";

const exported: readonly unknown[] = Object.values({
  ...hostAgent,
  ...procAgent,
  ...rdma,
  ...supervision,
  ...tensor,
});

const actors = exported.filter(
  (value): value is ActorDescriptor => typeof (value as Partial<ActorDescriptor>).key === "string",
);
const codecs = new Map(
  [
    ...exported.filter(isGenerated),
    ...actors.flatMap(({ args, endpoints }) =>
      [args, ...endpoints.map((endpoint) => endpoint.args)].map((codec) => codec as Codec<unknown>).filter(isGenerated),
    ),
  ].map((codec) => [codec.name, codec]),
);

compareCodecs(codecs);

test("codecs have the names of their types, in the package of the control plane", () => {
  for (const module of [hostAgent, procAgent, rdma, supervision, tensor]) {
    for (const [name, codec] of Object.entries(module as Readonly<Record<string, unknown>>)) {
      if (!isGenerated(codec)) continue;
      expect(`${codec.name}Codec`).toBe(name);
      expect(structureOf(codec as Codec<unknown>).type).toBe(`viceroy.v1.${codec.name}`);
      expect(codec.shape().name).toBe(codec.name);
    }
  }
  for (const { name, endpoints } of actors) {
    for (const endpoint of endpoints) expect(endpoint.args.name).toBe(`${name}.${endpoint.name}`);
  }
});

test("argument codecs are named after their actor and endpoint, generated and composed", () => {
  for (const { name, args, endpoints } of actors) {
    for (const [codec, wanted] of [
      [args as Codec<unknown>, name] as const,
      ...endpoints.map((endpoint) => [endpoint.args as Codec<unknown>, `${name}.${endpoint.name}`] as const),
    ]) {
      expect(codec.name).toBe(wanted);
      if (isGenerated(codec)) expect(codec.shape().name).toBe(wanted);
    }
  }
});

test("each actor base class has the descriptor of its actor", () => {
  const classes = exported.filter((value) => typeof value === "function");
  const described = classes.map((one) => [one.name, (one as unknown as { descriptor: unknown }).descriptor]);
  expect(described).toEqual(actors.map((actor) => [`${actor.name}Actor`, actor]));
});

const lock = readFileSync(new URL("../../viceroy.lock", import.meta.url), "utf8");

/** The numbered lines below the declaration that begins with `head`, without members that were removed. */
function locked(head: string): readonly string[] {
  const [, body = ""] = new RegExp(`^${head}\\b.*\\n((?:  .*\\n)*)`, "m").exec(lock) ?? [];
  return body
    .trimEnd()
    .split("\n")
    .filter((text) => !/^ {2}\d+ -/.test(text));
}

test.each(actors)("$name has the ids, parameters and results of the lock file", (actor) => {
  const [schema] = actor.key.split("#");
  const id = `0x${actor.id.toString(16).padStart(8, "0")}`;
  const name = `actor ${actor.name} in ${schema?.replace("viceroy/", "")} ${id}`;
  const line = ({ id, name, result, stream, ...call }: (typeof actor.endpoints)[number]) => {
    const type = result?.name ?? "void";
    return `  ${id} ${name}(${parametersOf(call)}) -> ${stream ? `stream<${type}>` : type}`;
  };
  const create = { id: 0, name: "new", result: undefined, ...pick(actor) };
  expect([create as never, ...actor.endpoints].map(line).sort(byNumber)).toEqual(
    locked(name).map((text) => text.replace(/ next=\d+ \(/, "(").replace(/\d+ (\w+): [^,)]*?(\??)(?=[,)])/g, "$1$2")),
  );
  expect(actor.service).toBe(`viceroy.v1.${actor.name}Service`);
  expect(actor.endpoints.every(({ args }) => args.name.startsWith(actor.name))).toBe(true);
});

function pick({ args, minArgs, maxArgs }: ActorDescriptor) {
  return { args, minArgs, maxArgs };
}

/** Returns the parameters, such as `first, second?`, where `?` marks an optional one. */
function parametersOf({ args, minArgs, maxArgs }: Pick<ActorDescriptor, "args" | "minArgs" | "maxArgs">): string {
  const { parts } = structureOf(args as Codec<unknown>);
  expect(parts.length).toBe(maxArgs);
  return parts
    .map(({ segment }, i) => `${(segment as { text: string }).text.slice(1, -1)}${i < minArgs ? "" : "?"}`)
    .join(", ");
}

function byNumber(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10);
}

test("only the listed endpoints handle messages in order, and all other endpoints are concurrent", () => {
  const ordered = actors.flatMap(({ name, endpoints }) =>
    endpoints.filter(({ concurrent }) => concurrent !== true).map((endpoint) => `${name}.${endpoint.name}`),
  );
  expect(ordered.sort()).toEqual(
    [
      ...["failed", "callsSpent", "processPrinted", "processFinished"].map((name) => `ProcAgent.${name}`),
      ...["begin", "run", "put", "lend", "give", "take", "offer", "listen", "join"].map(
        (name) => `TensorWorker.${name}`,
      ),
      ...["TensorDesk.fail", "TensorDesk.drop", "TensorRunner.run", "TensorRunner.keep"],
    ].sort(),
  );
});

test.each([
  ["HostSignal", hostAgent.HostSignalCodec],
  ["FailureKind", supervision.FailureKindCodec],
] as const)("%s has the values and the numbers of the lock file", (name, codec) => {
  const { values } = protoFormOf(codec as Codec<unknown>) as { values: readonly { number: number; value: string }[] };
  expect(values.map(({ number, value }) => `  ${number} ${value}`)).toEqual(locked(`enum ${name}`));
  expect(codec.name).toBe(name);
});
