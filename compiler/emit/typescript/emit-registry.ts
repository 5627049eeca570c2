/**
 * Emits `registry.ts`, which lists the classes that implement actors and the modules that define them. The imports are
 * lazy: loading the registry loads no actor.
 */
import type { ActorImplementation } from "../../actors/index.js";
import type { ActorDeclaration } from "../../model/index.js";
import { withoutExtension } from "../../model/schema-paths.js";
import {
  type Code,
  call,
  group,
  hex64,
  indent,
  line,
  memberAccess,
  printFile,
  property,
  relativeSpecifier,
  stringLiteral,
  tallObjectLiteral,
} from "../kit/index.js";
import { abiValue } from "./abi-names.js";
import type { EmitContext } from "./emit-context.js";

/** Returns the text of `registry.ts`. `out` is the output folder, relative to the folder of the config. */
export function registryFile(
  implementations: readonly ActorImplementation[],
  context: EmitContext,
  options: { readonly out: string; readonly version: string; readonly header: readonly string[] },
): string {
  const { package: packageName } = context.schema;
  const actors = context.schema.modules.flatMap((module) => module.actors);
  const own = actors.map((actor) => schemaEntry(actor, context));
  const others = implementations.flatMap(({ actor }): Entry[] =>
    typeof actor === "string" ? [] : [[actor.key, hex64(actor.fingerprint)]],
  );
  const registered = call(abiValue("registerActors"), [
    "import.meta.url",
    tallObjectLiteral([
      `package: ${stringLiteral(packageName)}`,
      `version: ${stringLiteral(options.version)}`,
      ["schemas: ", tallObjectLiteral(sorted([...own, ...others]))],
      ["actors: ", tallObjectLiteral(sorted(implementations.map((found) => actorEntry(found, options.out, context))))],
    ]),
  ]);
  return printFile("registry.ts", options.header, (file) => file.line(registered, ";"), context.importExtension);
}

type Entry = readonly [key: string, value: Code];

function sorted(entries: readonly Entry[]): readonly Code[] {
  return [...new Map(entries)]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, value]) => property(stringLiteral(key), value));
}

function schemaEntry({ key }: ActorDeclaration, context: EmitContext): Entry {
  return [context.actorKey(key), hex64(context.fingerprints.actor(key))];
}

function actorEntry(found: ActorImplementation, out: string, context: EmitContext): Entry {
  const { path, name, actor, specifier } = found;
  const module = stringLiteral(specifier ?? relativeSpecifier(`${out}/registry.ts`, path, context.importExtension));
  const load = [group(indent([line, `import(${module}).then((m) => `, memberAccess("m", name), ")"]))];
  return [
    `${specifier ?? `${context.schema.package}/${withoutExtension(path)}`}#${name}`,
    tallObjectLiteral([
      `schema: ${stringLiteral(typeof actor === "string" ? context.actorKey(actor) : actor.key)}`,
      ["load: () =>", ...load],
    ]),
  ];
}
