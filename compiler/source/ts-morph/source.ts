/** The `TypeSource` over TypeScript's classic compiler, as ts-morph brings it along. */
import type { ts as TypeScript } from "ts-morph";
import type { ModuleOutline } from "../../actors/outline.js";
import { candidates } from "../../actors/resolve.js";
import type { SourceDeclaration, SourceProblem, SourceText, SourceType, TypeSource } from "../type-source.js";
import { Expander } from "./expand.js";
import { vocabularyName } from "./files.js";
import { type Compiler, loadCompiler } from "./load.js";
import { Names } from "./names.js";
import { outlineOf } from "./outline.js";
import { SchemaProgram } from "./program.js";
import { SyntaxReader } from "./syntax.js";

export interface TypeSourceOptions {
  /** Whether there is a file, by its path relative to the config's root: for imports of what is no schema file. */
  readonly exists: (path: string) => boolean;
}

/** Expensive: it loads the compiler. */
export function openTypeSource(options: TypeSourceOptions): TypeSource {
  return new CompilerSource(options);
}

/** What is known of one state of the program. */
interface Reading {
  readonly program: TypeScript.Program;
  readonly syntax: SyntaxReader;
  readonly expander: Expander;
  readonly signatures: Map<string, string>;
}

/** What is known of one file, as long as its signature is the same. */
interface FileReading {
  readonly signature: string;
  declarations?: readonly SourceDeclaration[];
  byKey?: ReadonlyMap<string, SourceDeclaration>;
  problems?: readonly SourceProblem[];
}

class CompilerSource implements TypeSource {
  readonly #ts: Compiler;
  readonly #files: SchemaProgram;
  readonly #exists: (path: string) => boolean;
  readonly #texts = new Map<string, string>();
  readonly #known = new Map<string, FileReading>();
  /** Computed types, by their handles. Nodes of files that have been replaced stay: nobody asks for them. */
  readonly #handles: TypeScript.TypeNode[] = [];
  #reading: Reading | undefined;

  constructor({ exists }: TypeSourceOptions) {
    this.#ts = loadCompiler();
    this.#files = new SchemaProgram(this.#ts);
    this.#exists = exists;
  }

  update(files: readonly SourceText[]): void {
    const current = new Map(files.map(({ path, text }) => [path, text]));
    for (const path of this.#texts.keys()) {
      if (current.has(path)) continue;
      this.#files.delete(path);
      this.#texts.delete(path);
      this.#known.delete(path);
      this.#reading = undefined;
    }
    for (const [path, text] of current) {
      if (this.#texts.get(path) === text) continue;
      this.#files.set(path, text);
      this.#texts.set(path, text);
      this.#reading = undefined;
    }
  }

  files(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }

  text(path: string): string {
    return this.#texts.get(path) ?? "";
  }

  #read(): Reading {
    if (this.#reading === undefined) {
      const program = this.#files.current();
      const checker = program.getTypeChecker();
      const names = new Names(this.#ts, checker);
      const syntax = new SyntaxReader(this.#ts, names, checker, this.#handles);
      const expander = new Expander(this.#ts, names, checker, syntax);
      this.#reading = { program, syntax, expander, signatures: new Map() };
    }
    return this.#reading;
  }

  signature(path: string): string {
    const { signatures } = this.#read();
    const known = signatures.get(path) ?? this.#files.signature(path);
    signatures.set(path, known);
    return known;
  }

  #file(path: string): FileReading {
    const signature = this.signature(path);
    let known = this.#known.get(path);
    if (known?.signature !== signature) {
      known = { signature };
      this.#known.set(path, known);
    }
    return known;
  }

  declarations(path: string): readonly SourceDeclaration[] {
    const known = this.#file(path);
    known.declarations ??= this.#read().syntax.declarations(this.#files.file(path));
    return known.declarations;
  }

  declaration(key: string): SourceDeclaration | undefined {
    const path = key.slice(0, key.lastIndexOf("#"));
    if (!this.#texts.has(path)) return undefined;
    const known = this.#file(path);
    // The first one of a name counts; that there are others is reported.
    known.byKey ??= new Map(
      this.declarations(path)
        .toReversed()
        .map((declaration) => [declaration.key, declaration]),
    );
    return known.byKey.get(key);
  }

  expand(handle: number): SourceType | undefined {
    const node = this.#handles[handle];
    return node && this.#read().expander.expand(node);
  }

  problems(): readonly SourceProblem[] {
    return this.files().flatMap((path) => {
      const known = this.#file(path);
      known.problems ??= this.#problemsOf(path);
      return known.problems;
    });
  }

  #problemsOf(path: string): readonly SourceProblem[] {
    const { program } = this.#read();
    const file = this.#files.file(path);
    const syntax = program.getSyntacticDiagnostics(file).map((found) => this.#problem("syntax", path, found));
    // What the checker makes of a file that cannot be parsed is noise.
    if (syntax.length > 0) return syntax;
    const imports = this.#importProblems(path, file);
    const types = program.getSemanticDiagnostics(file).map((found) => this.#problem("type", path, found));
    return [...imports, ...types.filter(({ start }) => imports.every((other) => other.start !== start))];
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
      if (specifier === vocabularyName || this.#files.resolve(path, specifier) !== undefined) return [];
      const target = candidates(path, specifier).find((candidate) => this.#exists(candidate));
      const span = { start: moduleSpecifier.getStart(file), end: moduleSpecifier.getEnd() };
      return [{ ...span, kind: "import", file: path, message: specifier, number: 0, ...(target && { target }) }];
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
