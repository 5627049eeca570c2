/** Checks whether a project's tsconfig.json can compile generated code and programs that use it. */
import path from "node:path";
import type { ts as TypeScript } from "ts-morph";
import { type Compiler, loadCompiler } from "./load-compiler.js";

/** @returns the required changes, one sentence each; empty if the settings are suitable */
export function tsconfigProblems(file: string): readonly string[] {
  const ts = loadCompiler();
  const errors: string[] = [];
  const read = ts.getParsedCommandLineOfConfigFile(
    file,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) =>
        errors.push(ts.flattenDiagnosticMessageText(messageText, " ")),
    },
  );
  // A project without files is not a problem of its settings.
  const syntax = (read?.errors ?? []).filter(({ code }) => code !== noInputs && code !== emptyFiles);
  errors.push(...syntax.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")));
  if (errors.length > 0 || read === undefined) {
    return errors.map((why) => `cannot read ${path.basename(file)}: ${why}`);
  }
  return settingProblems(ts, read.options);
}

/** The settings of a project that decide how its files import each other. */
export interface ImportSettings {
  /** Whether a `tsconfig.json` allows imports of `.ts` files by this extension. */
  readonly allowsTypeScript: boolean;
  /** The absolute paths of the files that were read, or would be read if they existed. */
  readonly files: readonly string[];
}

/**
 * Reads the import settings in the `tsconfig.json` of a folder, or of the nearest folder above it that has one. A file
 * that TypeScript cannot read allows nothing, because `tsc` reports its errors.
 */
export function readImportSettings(folder: string): ImportSettings {
  const ts = loadCompiler();
  const file = ts.findConfigFile(folder, ts.sys.fileExists);
  const own = path.join(folder, "tsconfig.json");
  if (file === undefined) return { allowsTypeScript: false, files: [own] };
  const extended = new Map<string, TypeScript.ExtendedConfigCacheEntry>();
  // The names of the project's source files are not needed, so no folder is read.
  const host = { ...ts.sys, readDirectory: () => [], onUnRecoverableConfigFileDiagnostic: () => {} };
  const options = ts.getParsedCommandLineOfConfigFile(file, {}, host, extended)?.options ?? {};
  return {
    allowsTypeScript: options.allowImportingTsExtensions === true || options.rewriteRelativeImportExtensions === true,
    files: [...new Set([own, file, ...extended.keys()])],
  };
}

const noInputs = 18003;
const emptyFiles = 18002;

function settingProblems(ts: Compiler, options: TypeScript.CompilerOptions): readonly string[] {
  const { ModuleKind, ModuleResolutionKind, ScriptTarget } = ts;
  const problems: string[] = [];
  const { module = ModuleKind.CommonJS, moduleResolution, lib } = options;
  const isNode = module >= ModuleKind.Node16 && module <= ModuleKind.NodeNext;
  const named = (kind: string | undefined) => (kind === undefined ? "not set" : `"${kind.toLowerCase()}"`);
  const resolutions = [ModuleResolutionKind.Node16, ModuleResolutionKind.NodeNext, ModuleResolutionKind.Bundler];
  if (module < ModuleKind.ES2022) {
    const is = named(options.module === undefined ? undefined : ModuleKind[module]);
    problems.push(`"module" is ${is}, and Viceroy generates ES modules: set "module": "nodenext"`);
  } else if (
    moduleResolution === undefined ? !isNode && module !== ModuleKind.Preserve : !resolutions.includes(moduleResolution)
  ) {
    const is = named(moduleResolution === undefined ? undefined : ModuleResolutionKind[moduleResolution]);
    problems.push(`"moduleResolution" is ${is}, which does not find "viceroy/schema": set "module": "nodenext" alone`);
  }
  // TypeScript's default target.
  const byDefault = isNode && module !== ModuleKind.Node16 ? ScriptTarget.ESNext : ScriptTarget.ES2022;
  const target = options.target ?? (isNode ? byDefault : ScriptTarget.ES5);
  if (target < ScriptTarget.ES2022) {
    const is = named(options.target === undefined ? undefined : ScriptTarget[target]);
    problems.push(`"target" is ${is}, and programs use \`await\` at the top level: set "target": "es2022"`);
  }
  const hasDisposal = lib?.some((name) => /^lib\.esnext\.(?:disposable\.|full\.)?d\.ts$/.test(name));
  if (!(hasDisposal ?? target >= ScriptTarget.ESNext)) {
    problems.push('"lib" has no disposable resources: set "lib": ["es2023", "esnext.disposable"]');
  }
  return problems;
}
