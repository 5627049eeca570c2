/** The `TypeSource` that uses the classic TypeScript compiler bundled with ts-morph. */
import type { ts as TypeScript } from "ts-morph";
import { importCandidates } from "../../actors/import-candidates.js";
import type { ModuleOutline } from "../../actors/module-outline.js";
import type {
  PackageImport,
  SourceDeclaration,
  SourceProblem,
  SourceText,
  SourceType,
  TypeSource,
} from "../type-source.js";
import { Expander } from "./expander.js";
import { type Compiler, loadCompiler } from "./load-compiler.js";
import { NameResolver } from "./name-resolver.js";
import { outlineOf } from "./outline.js";
import { plainness, type ReferredDeclaration } from "./plainness.js";
import { SchemaProgram } from "./program.js";
import { SyntaxReader } from "./syntax-reader.js";
import { vocabularyName } from "./virtual-paths.js";

export interface TypeSourceOptions {
  /**
   * Returns whether a file exists, by its path relative to the config's root. Used for imports of files that are not
   * schema files.
   */
  readonly exists: (path: string) => boolean;
  /** Whether the checker checks all files, also those in which it would find nothing. Used by tests. */
  readonly checkAll?: boolean;
}

/** Opens a type source. This is expensive, because it loads the compiler. */
export function openTypeSource(options: TypeSourceOptions): TypeSource {
  return new CompilerSource(options);
}

/** The objects that belong to one state of the program. */
interface ProgramReading {
  readonly program: TypeScript.Program;
  readonly syntax: SyntaxReader;
  readonly expander: Expander;
  readonly names: NameResolver;
  readonly files: Map<string, FileReading>;
}

/** The results of reading one file. */
interface FileReading {
  /** The version of the file and of all files on which it depends. */
  closure: string;
  /** The export signatures from which `names` was computed. */
  exportSignatures: string;
  /**
   * The version of the file and the meaning of the names that it imports. Undefined if it imports more than named
   * imports.
   */
  readonly names: string | undefined;
  /** Whether the checker finds nothing wrong with the file; see `plainness`. */
  readonly isPlain: boolean;
  /** Whether the results stay the same as long as `names` is the same. */
  readonly isLocal: boolean;
  readonly declarations: readonly SourceDeclaration[];
  /** The first declaration of each name. Further declarations of the same name are reported. */
  readonly byKey: ReadonlyMap<string, SourceDeclaration>;
  problems?: readonly SourceProblem[];
}

interface Imports {
  readonly names: string;
  readonly referred: ReadonlyMap<string, ReferredDeclaration>;
}

class CompilerSource implements TypeSource {
  readonly #ts: Compiler;
  readonly #files: SchemaProgram;
  readonly #exists: (path: string) => boolean;
  readonly #checkAll: boolean;
  readonly #texts = new Map<string, string>();
  readonly #known = new Map<string, FileReading>();
  /**
   * Nodes of computed types; a handle is an index into this list. Nodes of replaced files stay in the list, but their
   * handles are no longer used.
   */
  readonly #handles: TypeScript.TypeNode[] = [];
  #reading: ProgramReading | undefined;
  readonly #outlines = new Map<string, { readonly text: string; readonly outline: ModuleOutline }>();

  constructor({ exists, checkAll = false }: TypeSourceOptions) {
    this.#checkAll = checkAll;
    this.#ts = loadCompiler();
    this.#files = new SchemaProgram(this.#ts);
    this.#exists = exists;
  }

  update(files: readonly SourceText[], imports: readonly PackageImport[] = []): void {
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
    if (this.#files.setImports(imports)) {
      this.#known.clear();
      this.#reading = undefined;
    }
  }

  files(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }

  text(path: string): string {
    return this.#texts.get(path) ?? "";
  }

  #read(): ProgramReading {
    if (this.#reading === undefined) {
      const program = this.#files.current();
      const checker = program.getTypeChecker();
      const names = new NameResolver(this.#ts, checker);
      const syntax = new SyntaxReader(this.#ts, names, checker, this.#handles);
      const expander = new Expander(this.#ts, names, checker, syntax);
      this.#reading = { program, syntax, expander, names, files: new Map() };
    }
    return this.#reading;
  }

  signature(path: string): string {
    const { closure, names, isLocal } = this.#file(path);
    return isLocal && names !== undefined ? names : closure;
  }

  #file(path: string): FileReading {
    const { files } = this.#read();
    const checked = files.get(path);
    if (checked !== undefined) return checked;
    const closure = this.#files.signature(path);
    let known = this.#known.get(path);
    if (known === undefined || known.closure !== closure) {
      const faces = this.#files.exportSignatures(path);
      const isLocal = known?.isLocal && known.names !== undefined;
      if (known === undefined || !isLocal || known.exportSignatures !== faces) {
        const imports = this.#imports(path);
        if (known === undefined || !isLocal || known.names !== imports?.names) {
          known = this.#readFile(path, closure, faces, imports);
        }
      }
      known.exportSignatures = faces;
    }
    known.closure = closure;
    this.#known.set(path, known);
    files.set(path, known);
    return known;
  }

  #readFile(path: string, closure: string, faces: string, imports: Imports | undefined): FileReading {
    const { syntax } = this.#read();
    const file = this.#files.file(path);
    syntax.sawEnumMember = false;
    const declarations = syntax.declarations(file);
    const byKey = new Map(declarations.toReversed().map((declaration) => [declaration.key, declaration]));
    const plain =
      imports === undefined || syntax.sawEnumMember
        ? { isPlain: false, isLocal: false }
        : plainness(this.#ts, file, declarations, (key) => imports.referred.get(key));
    return { closure, exportSignatures: faces, names: imports?.names, ...plain, declarations, byKey };
  }

  /**
   * Returns the meaning of the names that a file imports and declares, or undefined if it imports more than named
   * imports.
   */
  #imports(path: string): Imports | undefined {
    const ts = this.#ts;
    const { names } = this.#read();
    const file = this.#files.file(path);
    const { imports = [] } = file as { readonly imports?: readonly unknown[] };
    const referred = new Map<string, ReferredDeclaration>();
    const texts = [`${path}@${this.#files.version(path)}`];
    let count = 0;
    for (const statement of file.statements) {
      const declared = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
      const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
      if (declared) {
        const found = names.referredDeclaration(statement.name);
        if (found !== undefined) referred.set(`${path}#${statement.name.text}`, found);
      } else if (bindings !== undefined && ts.isNamedImports(bindings)) {
        count++;
        for (const { name } of bindings.elements) {
          const meaning = names.resolve(name);
          const found = names.referredDeclaration(name);
          if (meaning.kind !== "schema" && meaning.kind !== "vocabulary") return undefined;
          if (meaning.kind === "schema" && found !== undefined) referred.set(meaning.key, found);
          texts.push(`${meaning.kind} ${meaning.key ?? meaning.name} ${JSON.stringify(found)}`);
        }
      }
    }
    return count === imports.length ? { names: texts.join("\n"), referred } : undefined;
  }

  declarations(path: string): readonly SourceDeclaration[] {
    return this.#file(path).declarations;
  }

  declaration(key: string): SourceDeclaration | undefined {
    const path = key.slice(0, key.lastIndexOf("#"));
    return this.#texts.has(path) ? this.#file(path).byKey.get(key) : undefined;
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
    // The checker's messages about a file that cannot be parsed are consequences of its syntax errors.
    if (syntax.length > 0) return syntax;
    if (this.#file(path).isPlain && !this.#checkAll) return [];
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
      const target = importCandidates(path, specifier).find((candidate) => this.#exists(candidate));
      const span = { start: moduleSpecifier.getStart(file), end: moduleSpecifier.getEnd() };
      return [{ ...span, kind: "import", file: path, message: specifier, number: 0, ...(target && { target }) }];
    });
  }

  outline(path: string, text: string): ModuleOutline {
    const known = this.#outlines.get(path);
    if (known?.text === text) return known.outline;
    const outline = outlineOf(this.#ts, path, text);
    this.#outlines.set(path, { text, outline });
    return outline;
  }

  transpile(path: string, text: string): string {
    const ts = this.#ts;
    const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
    // The compiler decides by the file name, so a file named .mts or .mjs would stay an ES module.
    const fileName = path.replace(/\.m([jt]s)$/, ".$1");
    const { outputText, diagnostics = [] } = ts.transpileModule(text, {
      fileName,
      compilerOptions,
      reportDiagnostics: true,
    });
    const [wrong] = diagnostics;
    if (wrong !== undefined) throw new SyntaxError(problemIn(ts, wrong));
    return outputText;
  }
}

/** Returns the text of a syntax error with its position, if it has one: `4:1: '}' expected.`. */
function problemIn(ts: Compiler, { file, start = 0, messageText }: TypeScript.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, " ");
  if (file === undefined) return message;
  const { line, character } = ts.getLineAndCharacterOfPosition(file, start);
  return `${line + 1}:${character + 1}: ${message}`;
}
