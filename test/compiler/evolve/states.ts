/**
 * Two states of the schemas of a project, compared in memory: no folder, no command. Of a state there are the texts of its
 * files, or the one of `schemas/a.ts`, whose first line imports the vocabulary.
 */
import type { Config } from "../../../compiler/config/index.js";
import { type Break, findBreaks, type Side } from "../../../compiler/evolve/index.js";
import { printLock } from "../../../compiler/lock/index.js";
import { readSide } from "../../../compiler/pipeline/side.js";
import { openTypeSource } from "../../../compiler/source/index.js";

export const vocabulary =
  'import type { Actor, Any, Int32, Int64, Mesh, NullValue, Oneof, Port, RDMABuffer, Sint32, Stream, Tensor, Uint32 } from "viceroy/schema";\n';

export type SchemaTexts = string | Readonly<Record<string, string>>;

export interface StateOptions {
  readonly emit?: Config["emit"];
  /** The text of a lock from which the ids go on. */
  readonly lock?: string;
}

const source = openTypeSource({ exists: () => false });

const config: Config = {
  root: "/project",
  file: "viceroy.config.ts",
  schemas: ["schemas/**/*.ts"],
  actors: [],
  out: "generated",
  lock: "viceroy.lock",
  emit: ["ts"],
  proto: {},
  break: { ignore: [] },
};

/** @throws Error if the schemas have errors: each is `CODE text` */
export function stateOf(texts: SchemaTexts, { emit = ["ts"], lock }: StateOptions = {}): Side {
  const files = typeof texts === "string" ? { "schemas/a.ts": vocabulary + texts } : texts;
  const schemas = Object.entries(files).map(([path, text]) => ({ path, text }));
  const { side, diagnostics } = readSide({ ...config, emit }, "example", schemas, lock, source, []);
  if (side !== undefined) return side;
  throw new Error(diagnostics.map(({ code, text }) => `${code} ${text}`).join("\n"));
}

/** The older state, and the newer one with ids that go on from it. */
export function statesOf(older: SchemaTexts, newer: SchemaTexts, options: StateOptions = {}) {
  const before = stateOf(older, options);
  return { older: before, newer: stateOf(newer, { ...options, lock: printLock(before.lock) }) };
}

export function breaksOf(older: SchemaTexts, newer: SchemaTexts, options?: StateOptions): readonly Break[] {
  const states = statesOf(older, newer, options);
  return findBreaks(states.older, states.newer);
}
