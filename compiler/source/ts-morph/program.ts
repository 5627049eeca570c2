/**
 * The compiler's program of the schema files, which are kept in memory. Each version of the program reuses the previous
 * one: unchanged files are not parsed again, and files without affected dependencies are not bound again.
 */
import type { ts as TypeScript } from "ts-morph";
import { importCandidates } from "../../actors/import-candidates.js";
import { vocabularyText } from "../../installation.js";
import { packageOfPath } from "../../model/imported-path.js";
import type { PackageImport } from "../type-source.js";
import { exportSignature } from "./export-signature.js";
import type { Compiler } from "./load-compiler.js";
import { libraryText } from "./schema-library.js";
import { barrelFolder, libraryFile, rootFolder, vocabularyFile, vocabularyName } from "./virtual-paths.js";

export class SchemaProgram {
  readonly #ts: Compiler;
  readonly #options: TypeScript.CompilerOptions;
  /** The source files, by the compiler's file names. */
  readonly #files = new Map<string, TypeScript.SourceFile>();
  /** The number of replacements of each schema file. */
  readonly #versions = new Map<string, number>();
  /** The number of replacements of each file that changed its export signature. */
  readonly #exportVersions = new Map<string, number>();
  /** The schema files that each file imports. Filled on demand. */
  readonly #imported = new Map<string, readonly string[]>();
  /** The schema files for each import of a package, by `importKey`. */
  readonly #packages = new Map<string, readonly string[]>();
  #program: TypeScript.Program | undefined;
  #isCurrent = false;

  constructor(ts: Compiler) {
    this.#ts = ts;
    this.#options = {
      noLib: true,
      noEmit: true,
      // Without this option, declarations of a file without imports and exports would be global.
      moduleDetection: ts.ModuleDetectionKind.Force,
      strict: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: [],
    };
  }

  /** @param path the path relative to the folder of the config */
  set(path: string, text: string): void {
    // The imports of other files can resolve to a new file.
    const before = this.#files.get(rootFolder + path);
    if (before !== undefined) this.#imported.delete(path);
    else this.#imported.clear();
    this.#parse(rootFolder + path, text);
    this.#versions.set(path, this.version(path) + 1);
    const hasSameFace =
      before !== undefined && exportSignature(this.#ts, before) === exportSignature(this.#ts, this.file(path));
    if (!hasSameFace) this.#exportVersions.set(path, (this.#exportVersions.get(path) ?? 0) + 1);
    this.#isCurrent = false;
  }

  /** @returns whether an import has another meaning than before */
  setImports(imports: readonly PackageImport[]): boolean {
    const next = new Map(imports.map(({ owner, specifier, files }) => [importKey(owner, specifier), files]));
    const isSame = (key: string, files: readonly string[]) => this.#packages.get(key)?.join() === files.join();
    if (next.size === this.#packages.size && [...next].every(([key, files]) => isSame(key, files))) return false;
    this.#packages.clear();
    for (const [key, files] of next) {
      this.#packages.set(key, files);
      if (files.length < 2) continue;
      const text = files.map((file) => `export * from "/${file}";`).join("\n");
      this.#parse(barrelFolder + files.join("+"), text);
    }
    this.#imported.clear();
    this.#isCurrent = false;
    return true;
  }

  delete(path: string): void {
    this.#files.delete(rootFolder + path);
    this.#imported.clear();
    this.#isCurrent = false;
  }

  file(path: string): TypeScript.SourceFile {
    const file = this.#files.get(rootFolder + path);
    if (file === undefined) throw new Error(`cannot read ${path}: it is not one of the schema files`);
    return file;
  }

  /** Returns the program of the current files. */
  current(): TypeScript.Program {
    if (this.#program === undefined || !this.#isCurrent) {
      if (!this.#files.has(libraryFile)) {
        this.#parse(libraryFile, libraryText());
        this.#parse(vocabularyFile, vocabularyText());
      }
      const rootNames = [...this.#files.keys()];
      const before = this.#program;
      const options = { rootNames, options: this.#options, host: this.#host(), ...(before && { oldProgram: before }) };
      this.#program = this.#ts.createProgram(options);
      this.#isCurrent = true;
    }
    return this.#program;
  }

  version(path: string): number {
    return this.#versions.get(path) ?? 0;
  }

  /** Returns the versions of all files on which `path` depends, including itself. */
  signature(path: string): string {
    return this.#closure(path)
      .map((file) => `${file}@${this.#versions.get(file)}`)
      .join(" ");
  }

  /** Returns the versions of the export signatures of all files on which `path` depends, and the version of `path`. */
  exportSignatures(path: string): string {
    const faces = this.#closure(path).map((file) => `${file}@${this.#exportVersions.get(file)}`);
    return [this.version(path), ...faces].join(" ");
  }

  /** Returns the files on which `path` depends, including itself, sorted. */
  #closure(path: string): readonly string[] {
    const reached = new Set([path]);
    // A set can grow during its iteration.
    for (const file of reached) for (const imported of this.#imports(file)) reached.add(imported);
    return [...reached].sort();
  }

  /**
   * Returns the schema files that a file imports. Only the program knows all imports, because import types can be
   * anywhere.
   */
  #imports(path: string): readonly string[] {
    this.current();
    const known = this.#imported.get(path);
    if (known !== undefined) return known;
    const { imports = [] } = this.file(path) as { readonly imports?: readonly TypeScript.StringLiteralLike[] };
    const found = [...new Set(imports.flatMap(({ text }) => this.#resolveAll(path, text)))];
    this.#imported.set(path, found);
    return found;
  }

  /** Returns the schema file to which an import resolves, or undefined. */
  resolve(importer: string, specifier: string): string | undefined {
    return this.#resolveAll(importer, specifier)[0];
  }

  #resolveAll(importer: string, specifier: string): readonly string[] {
    const files = this.#packages.get(importKey(packageOfPath(importer), specifier));
    if (files !== undefined) return files;
    return importCandidates(importer, specifier)
      .filter((candidate) => this.#files.has(rootFolder + candidate))
      .slice(0, 1);
  }

  #parse(name: string, text: string): void {
    const ts = this.#ts;
    const options = {
      languageVersion: ts.ScriptTarget.ESNext,
      // Comments are read from the text when they are needed.
      jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
    };
    this.#files.set(name, ts.createSourceFile(name, text, options, false));
  }

  #host(): TypeScript.CompilerHost {
    return {
      getSourceFile: (name) => this.#files.get(name),
      fileExists: (name) => this.#files.has(name),
      readFile: (name) => this.#files.get(name)?.text,
      resolveModuleNameLiterals: (literals, importer) => {
        return literals.map(({ text }) => ({ resolvedModule: this.#module(importer, text) }));
      },
      getDefaultLibFileName: () => libraryFile,
      getCurrentDirectory: () => rootFolder,
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
      writeFile: () => {},
    };
  }

  #module(importer: string, specifier: string): TypeScript.ResolvedModuleFull | undefined {
    const extension = this.#ts.Extension.Ts;
    if (specifier === vocabularyName) return { resolvedFileName: vocabularyFile, extension };
    if (importer.startsWith(barrelFolder)) return { resolvedFileName: rootFolder + specifier.slice(1), extension };
    if (!importer.startsWith(rootFolder)) return undefined;
    const paths = this.#resolveAll(importer.slice(rootFolder.length), specifier);
    if (paths.length > 1) return { resolvedFileName: barrelFolder + paths.join("+"), extension };
    return paths[0] === undefined ? undefined : { resolvedFileName: rootFolder + paths[0], extension };
  }
}

/** @param owner the package that contains the importing file, or an empty text for the project */
function importKey(owner: string, specifier: string): string {
  return `${owner}\n${specifier}`;
}
