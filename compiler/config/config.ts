/** `viceroy.config.ts`: the settings that a user writes, and the complete config with defaults. */

/**
 * The kinds of files that the compiler can write: TypeScript modules, `.proto` files, a descriptor set, JSON Schema,
 * Cap'n Proto schemas with their readers, and the contract, from which other packages import schemas and actors.
 */
export type Artefact = "ts" | "proto" | "descriptor" | "jsonschema" | "capnp" | "connect" | "contract";

/** The settings of the protobuf layout's description for other programs. */
export interface UserProtoConfig {
  /**
   * The package of the generated `.proto` files. Default: derived from the name of the npm package; `@acme/shop`
   * becomes `acme.shop.v1`.
   */
  readonly package?: string;
}

/** A breaking change that the project accepts. */
export interface IgnoredBreak {
  /** The code of the rule: `VC5035`. */
  readonly code: string;
  /** The declaration, as the rule names it: `Tree.leaves`. */
  readonly place: string;
  /** Why the change breaks nobody, for later readers. */
  readonly reason: string;
}

/** The settings of `viceroy break`. */
export interface UserBreakConfig {
  /** The breaking changes that the project accepts. Default: none. */
  readonly ignore?: readonly IgnoredBreak[];
}

/** The content of `viceroy.config.ts`. */
export interface UserConfig {
  /**
   * Glob patterns of the schema files, relative to the config file. A package whose actors implement schemas of other
   * packages can have none.
   */
  readonly schemas?: string | readonly string[];
  /**
   * Glob patterns of the files that define actor classes, relative to the config file, and the names of packages that
   * export actor classes: `"@acme/counter-actors"`. Default: none.
   */
  readonly actors?: string | readonly string[];
  /** The folder for generated code, relative to the config file. Default: `generated`. */
  readonly out?: string;
  /** The lock file, relative to the config file. Default: `viceroy.lock`. */
  readonly lock?: string;
  /** The kinds of files that the compiler writes. Default: `["ts"]`. */
  readonly emit?: readonly Artefact[];
  /**
   * The extension with which generated code imports TypeScript files: `.js`, the name of the compiled file, or `.ts`,
   * which Node.js requires where it runs TypeScript without a compiler. Default: `.ts` if `tsconfig.json` sets
   * `allowImportingTsExtensions` or `rewriteRelativeImportExtensions`, or if a file of `actors` imports a `.ts` file;
   * otherwise `.js`.
   */
  readonly importExtension?: ".js" | ".ts";
  /** Settings of the `.proto` files, the descriptor set and the JSON Schema. */
  readonly proto?: UserProtoConfig;
  /** Settings of `viceroy break`. */
  readonly break?: UserBreakConfig;
}

/**
 * Returns its parameter. It gives editors the type of a config.
 *
 * @example
 * ```ts
 * import { defineConfig } from "viceroy/compiler";
 *
 * export default defineConfig({ schemas: "schemas/*.ts", actors: "src/*.ts", emit: ["ts", "proto"] });
 * ```
 */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

/** A config with its defaults filled in. All paths are relative to `root`, with forward slashes. */
export interface Config {
  /** The absolute path of the folder of the config file. */
  readonly root: string;
  /** The name of the config file. */
  readonly file: string;
  /** Glob patterns of the schema files. */
  readonly schemas: readonly string[];
  /** Glob patterns of the files that define actor classes. */
  readonly actors: readonly string[];
  /** The modules of other packages that export actor classes: `@acme/counter-actors`. */
  readonly actorPackages: readonly string[];
  /** The folder for generated code. */
  readonly out: string;
  /** The lock file. */
  readonly lock: string;
  /** The kinds of files that the compiler writes. */
  readonly emit: readonly Artefact[];
  /** The extension with which generated code imports TypeScript files. Undefined means that the compiler detects it. */
  readonly importExtension?: ".js" | ".ts";
  /** Settings of the `.proto` files, the descriptor set and the JSON Schema. */
  readonly proto: UserProtoConfig;
  /** Settings of `viceroy break`. `ignore` lists the breaking changes that the project accepts. */
  readonly break: { readonly ignore: readonly IgnoredBreak[] };
}

/** Thrown when a config cannot be found, loaded or used. The command line exits with code 3. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
