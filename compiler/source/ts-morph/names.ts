/** What a name in a schema file means: a declaration of a schema, of the vocabulary, of the library, or something else. */
import type { ts as TypeScript } from "ts-morph";
import type { DeclarationKey } from "../../model/index.js";
import { libraryFile, rootFolder, vocabularyFile } from "./files.js";
import type { Compiler } from "./load.js";

export type Name =
  | { readonly kind: "schema"; readonly name: string; readonly key: DeclarationKey }
  | {
      readonly kind: "vocabulary" | "global" | "foreign" | "unresolved";
      readonly name: string;
      readonly key?: undefined;
    }
  | { readonly kind: "parameter"; readonly name: string }
  /** A member of an enum, used as a type. */
  | { readonly kind: "member"; readonly value: string | number };

export class Names {
  readonly #ts: Compiler;
  readonly #checker: TypeScript.TypeChecker;

  constructor(ts: Compiler, checker: TypeScript.TypeChecker) {
    this.#ts = ts;
    this.#checker = checker;
  }

  /** The path of a schema file, relative to the config's root. */
  pathOf(file: TypeScript.SourceFile): string {
    return file.fileName.slice(rootFolder.length);
  }

  resolve(name: TypeScript.Node): Name {
    const symbol = this.#checker.getSymbolAtLocation(name);
    return symbol === undefined ? { kind: "unresolved", name: name.getText() } : this.ofSymbol(symbol);
  }

  ofSymbol(symbol: TypeScript.Symbol): Name {
    const ts = this.#ts;
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    const name = target.name;
    const [declaration] = target.declarations ?? [];
    if (declaration === undefined) return { kind: "unresolved", name: symbol.name };
    if (target.flags & ts.SymbolFlags.TypeParameter) return { kind: "parameter", name };
    if (ts.isEnumMember(declaration)) {
      const value = this.#checker.getConstantValue(declaration);
      return value === undefined ? { kind: "foreign", name } : { kind: "member", value };
    }
    const file = declaration.getSourceFile();
    if (file.fileName === vocabularyFile) return { kind: "vocabulary", name };
    if (file.fileName === libraryFile) return { kind: "global", name };
    if (declaration.parent !== file) return { kind: "foreign", name };
    // A default export is called that; the declaration has a name of its own.
    const own = (declaration as TypeScript.DeclarationStatement).name;
    const declared = own !== undefined && ts.isIdentifier(own) ? own.text : name;
    return { kind: "schema", name: declared, key: `${this.pathOf(file)}#${declared}` };
  }
}
