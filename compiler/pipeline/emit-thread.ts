/** A thread that emits modules of a large schema, beside the one that compiles; becomes `dist/compiler/emit-thread.js`. */
import { parentPort } from "node:worker_threads";
import { TypeScriptFiles } from "../emit/index.js";
import { nameEnums } from "../protobuf/lower.js";
import type { Lowered } from "../protobuf/lowered.js";
import { type EmitJob, emitShare } from "./emit-job.js";

parentPort!.once("message", ({ schema, options, next }: EmitJob) => {
  const naming = { package: options.protoPackage, schemaRoot: options.schemaRoot };
  let named: Lowered["enumNames"] | undefined;
  const enumNames = () => (named ??= nameEnums(schema, naming));
  parentPort!.postMessage(emitShare(new TypeScriptFiles(schema, { ...options, enumNames }), next));
});
