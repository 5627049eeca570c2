/** Runs bundled generated code. Needs no compiler, so that it can run in a small process. */
import * as wire from "../../runtime/wire/index.js";

/** The codecs that the generated files export, by their names. */
export type GeneratedCodecs = ReadonlyMap<string, wire.GeneratedCodec<unknown>>;

/**
 * @param abi what generated code imports: for codecs, those are enough
 * @returns what the script exports
 */
export function runScript(script: string, abi: object = wire): Readonly<Record<string, unknown>> {
  const module: { exports: Record<string, unknown> } = { exports: {} };
  new Function("require", "module", "exports", script)(() => abi, module, module.exports);
  return module.exports;
}

export function runGenerated(script: string): GeneratedCodecs {
  const codecs = Object.entries(runScript(script)).filter(([, value]) => value instanceof wire.GeneratedCodec);
  return new Map(codecs as [string, wire.GeneratedCodec<unknown>][]);
}
