/**
 * Runs TypeDoc on the sources of a package. The entry points are the entries of `exports` in package.json. TypeDoc is
 * installed in this folder with its own version of TypeScript, because it needs the JavaScript API of the compiler,
 * which TypeScript 7 lacks.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Application, Converter, Logger, LogLevel } from "typedoc";
import { MemberRouter } from "typedoc-plugin-markdown";

/**
 * Returns the entry points of a package: the names that programs import, and the source files. Entry points for
 * generated code come last, because a symbol of several entry points is documented in the first one.
 */
function entryPoints(folder) {
  const { name, exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const entries = Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([entry, { types }]) => ({
      name: path.posix.join(name, entry),
      file: types.replace("./dist/types/", "").replace(/\.d\.ts$/, ".ts"),
    }));
  const isVersioned = (entry) => Number(/\/v\d+$/.test(entry.name));
  return entries.sort((a, b) => isVersioned(a) - isVersioned(b));
}

/** Writes each entry point to a folder directly below the output folder: `viceroy-codegen-v1/classes/Reader.md`. */
class EntryPointRouter extends MemberRouter {
  getReflectionAlias(reflection) {
    return super.getReflectionAlias(reflection).replaceAll("/", "-");
  }
}

/** Collects warnings and errors without printing them. */
class Complaints extends Logger {
  texts = [];

  log(message, level) {
    if (level >= LogLevel.Warn) this.texts.push(message);
  }
}

/**
 * Reads the sources of a package.
 *
 * @param folder the folder of the package, with package.json, tsconfig.json and typedoc.json
 * @returns TypeDoc's application, the project that describes the public API, and TypeDoc's warnings and errors
 */
export async function readPackage(folder) {
  const entries = entryPoints(folder);
  const app = await Application.bootstrapWithPlugins({
    options: path.join(folder, "typedoc.json"),
    logLevel: "Warn",
    plugin: [import.meta.resolve("typedoc-plugin-markdown"), import.meta.resolve("typedoc-vitepress-theme")],
    basePath: folder,
    entryPoints: entries.map(({ file }) => path.join(folder, file)),
    tsconfig: path.join(folder, "tsconfig.json"),
  });
  app.logger = new Complaints();
  app.renderer.defineRouter("entry-point", EntryPointRouter);
  app.options.setValue("router", "entry-point");
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const source = path.relative(folder, module.sources?.[0]?.fullFileName ?? "");
      module.name = entries.find(({ file }) => file === source)?.name ?? module.name;
    }
  });
  const project = await app.convert();
  if (project !== undefined) app.validate(project);
  return { app, project, complaints: app.logger.texts };
}
