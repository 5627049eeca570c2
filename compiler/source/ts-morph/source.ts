/**
 * The schema files of a project, read with ts-morph. It keeps the program, so that an edit costs what it changes; for the
 * walk the compiler's own nodes are used, which the wrappers would double in cost.
 */
import type { Project, ts as TypeScript } from "ts-morph";
import type { ModuleOutline } from "../../actors/outline.js";
import { candidates } from "../../actors/resolve.js";
import { vocabularyText } from "../../package.js";
import type { SourceDeclaration, SourceProblem, SourceText, SourceType, TypeSource } from "../type-source.js";
import { Expander } from "./expand.js";
import { libraryFile, rootFolder, vocabularyFile, vocabularyName } from "./files.js";
import { libraryText } from "./library.js";
import { type Compiler, loadTsMorph } from "./load.js";
import { Names } from "./names.js";
import { outlineOf } from "./outline.js";
import { SyntaxReader } from "./syntax.js";

export interface TypeSourceOptions {
  /** Whether there is a file, by its path relative to the config's root: for imports of what is no schema file. */
  readonly exists: (path: string) => boolean;
}

/** Expensive: it loads the compiler. */
export function openTypeSource(options: TypeSourceOptions): TypeSource {
  return new TsMorphSource(options);
}

/** What is known of one state of the program. */
interface Reading {
  readonly program: TypeScript.Program;
  readonly syntax: SyntaxReader;
  readonly expander: Expander;
  readonly handles: TypeScript.TypeNode[];
  readonly declarations: Map<string, readonly SourceDeclaration[]>;
}

class TsMorphSource implements TypeSource {
  readonly #ts: Compiler;
  readonly #project: Project;
  readonly #exists: (path: string) => boolean;
  readonly #texts = new Map<string, string>();
  #reading: Reading | undefined;

  constructor({ exists }: TypeSourceOptions) {
    const { Project, ts } = loadTsMorph();
    this.#ts = ts;
    this.#exists = exists;
    this.#project = new Project({
      useInMemoryFileSystem: true,
      skipLoadingLibFiles: true,
      skipFileDependencyResolution: true,
      compilerOptions: {
        noLib: true,
        noEmit: true,
        strict: true,
        target: ts.ScriptTarget.ESNext,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        types: [],
      },
      resolutionHost: () => ({ resolveModuleNames: (names, importer) => this.#resolveModules(names, importer) }),
    });
    this.#project.createSourceFile(libraryFile, libraryText());
    this.#project.createSourceFile(vocabularyFile, vocabularyText());
  }

  update(files: readonly SourceText[]): void {
    const current = new Map(files.map(({ path, text }) => [path, text]));
    for (const path of this.#texts.keys()) {
      if (current.has(path)) continue;
      this.#project.removeSourceFile(this.#project.getSourceFileOrThrow(rootFolder + path));
      this.#forget(path);
    }
    for (const [path, text] of current) {
      if (this.#texts.get(path) === text) continue;
      this.#project.createSourceFile(rootFolder + path, text, { overwrite: true });
      this.#forget(path);
      this.#texts.set(path, text);
    }
  }

  #forget(path: string): void {
    this.#texts.delete(path);
    this.#reading = undefined;
  }

  files(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }

  text(path: string): string {
    return this.#texts.get(path) ?? "";
  }

  #read(): Reading {
    if (this.#reading === undefined) {
      const program = this.#project.getProgram().compilerObject;
      const checker = program.getTypeChecker();
      const names = new Names(this.#ts, checker);
      const handles: TypeScript.TypeNode[] = [];
      const syntax = new SyntaxReader(this.#ts, names, checker, handles);
      const expander = new Expander(this.#ts, names, checker, syntax);
      this.#reading = { program, syntax, expander, handles, declarations: new Map() };
    }
    return this.#reading;
  }

  #file(path: string): TypeScript.SourceFile {
    const file = this.#read().program.getSourceFile(rootFolder + path);
    if (file === undefined) throw new Error(`cannot read ${path}: it is not one of the schema files`);
    return file;
  }

  declarations(path: string): readonly SourceDeclaration[] {
    const { declarations, syntax } = this.#read();
    const known = declarations.get(path) ?? syntax.declarations(this.#file(path));
    declarations.set(path, known);
    return known;
  }

  declaration(key: string): SourceDeclaration | undefined {
    const path = key.slice(0, key.lastIndexOf("#"));
    if (!this.#texts.has(path)) return undefined;
    return this.declarations(path).find((declaration) => declaration.key === key);
  }

  expand(handle: number): SourceType | undefined {
    const { handles, expander } = this.#read();
    const node = handles[handle];
    return node && expander.expand(node);
  }

  problems(): readonly SourceProblem[] {
    const { program } = this.#read();
    return this.files().flatMap((path) => {
      const file = this.#file(path);
      const syntax = program.getSyntacticDiagnostics(file).map((found) => this.#problem("syntax", path, found));
      // What the checker makes of a file that cannot be parsed is noise.
      if (syntax.length > 0) return syntax;
      const imports = this.#importProblems(path, file);
      const types = program.getSemanticDiagnostics(file).map((found) => this.#problem("type", path, found));
      return [...imports, ...types.filter(({ start }) => imports.every((other) => other.start !== start))];
    });
  }

  #problem(kind: "syntax" | "type", file: string, found: TypeScript.Diagnostic): SourceProblem {
    const { start = 0, length = 0, messageText, code } = found;
    const message = this.#ts.flattenDiagnosticMessageText(messageText, " ").replace(/\s+/g, " ").replace(/\.$/, "");
    return { kind, file, start, end: start + length, message, number: code };
  }

  #importProblems(path: string, file: TypeScript.SourceFile): readonly SourceProblem[] {
    const ts = this.#ts;
    return file.statements.flatMap((statement): readonly SourceProblem[] => {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
      const { moduleSpecifier } = statement;
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
      const specifier = moduleSpecifier.text;
      if (specifier === vocabularyName || this.#resolve(path, specifier) !== undefined) return [];
      const target = candidates(path, specifier).find((candidate) => this.#exists(candidate));
      const span = { start: moduleSpecifier.getStart(), end: moduleSpecifier.getEnd() };
      return [{ ...span, kind: "import", file: path, message: specifier, number: 0, ...(target && { target }) }];
    });
  }

  /** The schema file that an import means. */
  #resolve(importer: string, specifier: string): string | undefined {
    return candidates(importer, specifier).find((candidate) => this.#texts.has(candidate));
  }

  #resolveModules(names: readonly string[], importer: string): (TypeScript.ResolvedModule | undefined)[] {
    return names.map((name) => {
      if (name === vocabularyName) return { resolvedFileName: vocabularyFile };
      if (!importer.startsWith(rootFolder)) return undefined;
      const path = this.#resolve(importer.slice(rootFolder.length), name);
      return path === undefined ? undefined : { resolvedFileName: rootFolder + path };
    });
  }

  outline(path: string, text: string): ModuleOutline {
    return outlineOf(this.#ts, path, text);
  }

  transpile(path: string, text: string): string {
    const ts = this.#ts;
    const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
    return ts.transpileModule(text, { fileName: path, compilerOptions }).outputText;
  }
}
