/** Runs bundled generated code. Needs no compiler, so that it can run in a small process. */
import * as wire from "../../runtime/wire/index.js";

/** The codecs that the generated files export, by their names. */
export type GeneratedCodecs = ReadonlyMap<string, wire.GeneratedCodec<unknown>>;

export function runGenerated(script: string): GeneratedCodecs {
  const module: { exports: Record<string, unknown> } = { exports: {} };
  new Function("require", "module", "exports", script)(() => wire, module, module.exports);
  const codecs = Object.entries(module.exports).filter(([, value]) => value instanceof wire.GeneratedCodec);
  return new Map(codecs as [string, wire.GeneratedCodec<unknown>][]);
}
