/**
 * Two states of the schemas of a project, compared in memory: no folder, no command. Of a state there are the texts of its
 * files, or the one of `schemas/a.ts`, whose first line imports the vocabulary.
 */
import type { Config } from "../../../compiler/config/index.js";
import { type Break, findBreaks, type SchemaState } from "../../../compiler/evolve/index.js";
import { parseLock, printLock } from "../../../compiler/lock/index.js";
import { readSchemaState } from "../../../compiler/pipeline/schema-state.js";
import { openTypeSource } from "../../../compiler/source/index.js";

const vocabulary =
  'import type { Actor, Any, Float32, Int32, Int64, Mesh, NullValue, Oneof, Port, RdmaBuffer, Sint32, Stream, Task, Tensor, Uint32, Uint64, Value } from "viceroy/schema";\n';

export type SchemaTexts = string | Readonly<Record<string, string>>;

export interface StateOptions {
  readonly emit?: Config["emit"];
  /** The name of the newer package, `example` if it is not given. */
  readonly newerPackage?: string;
  /** Edits the text of the older lock, of which the older state has it then. */
  readonly before?: (lock: string) => string;
  /** Edits the text of the older lock, from which the newer ids go on. */
  readonly edit?: (lock: string) => string;
}

const source = openTypeSource({ exists: () => false });

const config: Config = {
  root: "/project",
  file: "viceroy.config.ts",
  schemas: ["schemas/**/*.ts"],
  actors: [],
  actorPackages: [],
  out: "generated",
  lock: "viceroy.lock",
  emit: ["ts"],
  proto: {},
  break: { ignore: [] },
};

/**
 * @param lock the text of a lock from which the ids go on
 * @throws Error if the schemas have errors: each is `CODE text`
 */
export function stateOf(
  texts: SchemaTexts,
  emit: Config["emit"] = ["ts"],
  lock?: string,
  name = "example",
): SchemaState {
  const files = typeof texts === "string" ? { "schemas/a.ts": vocabulary + texts } : texts;
  const schemas = Object.entries(files).map(([path, text]) => ({ path, text }));
  const { state: side, diagnostics } = readSchemaState({ ...config, emit }, name, schemas, lock, source, []);
  if (side !== undefined) return side;
  throw new Error(diagnostics.map(({ code, text }) => `${code} ${text}`).join("\n"));
}

/** The older state, and the newer one with ids that go on from it. */
export function statesOf(older: SchemaTexts, newer: SchemaTexts, options: StateOptions = {}) {
  const { emit, newerPackage, before = (lock) => lock, edit = (lock) => lock } = options;
  const state = stateOf(older, emit);
  const lock = printLock(state.lock);
  return {
    older: { ...state, lock: parseLock("viceroy.lock", before(lock)).lock },
    newer: stateOf(newer, emit, edit(lock), newerPackage),
  };
}

export function breaksOf(older: SchemaTexts, newer: SchemaTexts, options?: StateOptions): readonly Break[] {
  const states = statesOf(older, newer, options);
  return findBreaks(states.older, states.newer);
}
