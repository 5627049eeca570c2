/**
 * Resolves names in schema files: to a declaration of a schema, of the vocabulary or of the library, or to something
 * else.
 */
import type { ts as TypeScript } from "ts-morph";
import type { DeclarationKey } from "../../model/index.js";
import type { Compiler } from "./load-compiler.js";
import type { ReferredDeclaration } from "./plainness.js";
import { libraryFile, rootFolder, vocabularyFile } from "./virtual-paths.js";

export type ResolvedName =
  | { readonly kind: "schema"; readonly name: string; readonly key: DeclarationKey }
  | {
      readonly kind: "vocabulary" | "global" | "foreign" | "unresolved";
      readonly name: string;
      readonly key?: undefined;
    }
  | { readonly kind: "parameter"; readonly name: string }
  /** A member of an enum, used as a type. */
  | { readonly kind: "member"; readonly value: string | number };

export class NameResolver {
  readonly #ts: Compiler;
  readonly #checker: TypeScript.TypeChecker;

  constructor(ts: Compiler, checker: TypeScript.TypeChecker) {
    this.#ts = ts;
    this.#checker = checker;
  }

  /** Returns the path of a schema file, relative to the folder of the config. */
  pathOf(file: TypeScript.SourceFile): string {
    return file.fileName.slice(rootFolder.length);
  }

  resolve(name: TypeScript.Node): ResolvedName {
    const symbol = this.#checker.getSymbolAtLocation(name);
    return symbol === undefined ? { kind: "unresolved", name: name.getText() } : this.ofSymbol(symbol);
  }

  /**
   * Returns the properties of a declaration that matter to other files, or undefined if the name is not a type of a
   * schema.
   */
  referredDeclaration(name: TypeScript.Node): ReferredDeclaration | undefined {
    const symbol = this.#checker.getSymbolAtLocation(name);
    const target = symbol && this.#target(symbol);
    const [declaration, ...others] = target?.declarations ?? [];
    if (declaration === undefined || others.length > 0) return undefined;
    const ts = this.#ts;
    if (ts.isEnumDeclaration(declaration)) return { kind: "enum", isGeneric: false, isActor: false };
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isTypeAliasDeclaration(declaration)) return undefined;
    const kind = ts.isInterfaceDeclaration(declaration) ? "interface" : "alias";
    const isActor = ts.isInterfaceDeclaration(declaration) && this.#isActor(declaration, new Set());
    return { kind, isGeneric: declaration.typeParameters !== undefined, isActor };
  }

  #isActor(declaration: TypeScript.InterfaceDeclaration, seen: Set<TypeScript.Node>): boolean {
    if (seen.has(declaration)) return false;
    seen.add(declaration);
    const bases = declaration.heritageClauses?.flatMap(({ types }) => [...types]) ?? [];
    return bases.some(({ expression }) => {
      const symbol = this.#checker.getSymbolAtLocation(expression);
      const [base] = (symbol && this.#target(symbol).declarations) ?? [];
      if (base === undefined || !this.#ts.isInterfaceDeclaration(base)) return false;
      const isVocabulary = base.getSourceFile().fileName === vocabularyFile;
      return isVocabulary ? base.name.text === "Actor" : this.#isActor(base, seen);
    });
  }

  #target(symbol: TypeScript.Symbol): TypeScript.Symbol {
    return symbol.flags & this.#ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  ofSymbol(symbol: TypeScript.Symbol): ResolvedName {
    const ts = this.#ts;
    const target = this.#target(symbol);
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
    const namespace = this.#namespaceOf(declaration);
    if (namespace === undefined) return { kind: "foreign", name };
    // The symbol of a default export has the name `default`. The declaration has its own name.
    const own = (declaration as TypeScript.DeclarationStatement).name;
    const declared = namespace + (own !== undefined && ts.isIdentifier(own) ? own.text : name);
    return { kind: "schema", name: declared, key: `${this.pathOf(file)}#${declared}` };
  }

  /**
   * Returns the prefix of a declaration's name, such as `Order.` in a namespace, or undefined if the declaration is not
   * part of a schema.
   */
  #namespaceOf(declaration: TypeScript.Node): string | undefined {
    const ts = this.#ts;
    let namespace = "";
    for (let node = declaration.parent; !ts.isSourceFile(node); node = node.parent) {
      if (ts.isModuleBlock(node)) continue;
      if (!ts.isModuleDeclaration(node) || !this.isNamespace(node)) return undefined;
      namespace = `${node.name.text}.${namespace}`;
    }
    return namespace;
  }

  /** Returns whether a module declaration is a namespace. `declare global` and `module "name"` are not. */
  isNamespace({ name, flags }: TypeScript.ModuleDeclaration): boolean {
    return this.#ts.isIdentifier(name) && !(flags & this.#ts.NodeFlags.GlobalAugmentation);
  }
}
