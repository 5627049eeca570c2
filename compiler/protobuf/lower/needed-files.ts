/**
 * Leaves out the files of other packages that no file of the project needs. A contract contains all schemas of its
 * package, of which a project may use one.
 */
import type { ProtoSchema, ProtoType } from "../../../shared/protobuf/proto-schema.js";
import type { LoweredFile, LoweredSchema } from "./lowered-schema.js";

/** @param files all files */
export function needed(schema: ProtoSchema, files: readonly LoweredFile[]): Pick<LoweredSchema, "schema" | "files"> {
  if (files.every(({ importedFrom }) => importedFrom === undefined)) return { schema, files };
  const fileOf = new Map(files.flatMap((file) => [...file.messages, ...file.enums].map((name) => [name, file])));
  const kept = new Set<LoweredFile>();
  const keep = (file: LoweredFile | undefined): void => {
    if (file === undefined || kept.has(file)) return;
    kept.add(file);
    for (const name of referencesOf(file, schema)) keep(fileOf.get(name));
  };
  for (const file of files) if (file.importedFrom === undefined && file.modules.length > 0) keep(file);
  const names = new Set([...kept].flatMap((file) => [...file.messages, ...file.enums, ...file.services]));
  const only = <V>(map: ReadonlyMap<string, V>) => new Map([...map].filter(([name]) => names.has(name)));
  return {
    schema: { messages: only(schema.messages), enums: only(schema.enums), services: only(schema.services) },
    files: files.filter((file) => kept.has(file)),
  };
}

function referencesOf({ messages, services }: LoweredFile, schema: ProtoSchema): readonly string[] {
  const fields = messages.flatMap((name) => schema.messages.get(name)?.fields ?? []);
  const types = fields.flatMap(({ type, carries }) => [type, ...(carries?.kind === "port" ? [carries.type] : [])]);
  const methods = services.flatMap((name) => schema.services.get(name)?.methods ?? []);
  return [...types.flatMap(nameIn), ...methods.flatMap(({ request, response }) => [request, response])];
}

function nameIn(type: ProtoType): readonly string[] {
  return type.kind === "scalar" ? [] : [type.name];
}
