/** `viceroy.config.ts`: what a user may write in it, and what it means once defaults are filled in. */

/** What can be emitted. */
export type Artefact = "ts" | "proto" | "descriptor" | "jsonschema" | "capnp";

/** How the protobuf layout is told to others. */
export interface UserProtoConfig {
  /** The package of generated `.proto` files. Default: made of the name of the npm package, `@acme/shop` is `acme.shop.v1`. */
  readonly package?: string;
}

/** A breaking change that the project has agreed to. */
export interface IgnoredBreak {
  /** Of the rule: `VC5035`. */
  readonly code: string;
  /** As the rule says it: `Tree.leaves`. */
  readonly place: string;
  /** Why nobody is hurt, for those who read it later. */
  readonly reason: string;
}

export interface UserBreakConfig {
  readonly ignore?: readonly IgnoredBreak[];
}

export interface UserConfig {
  /** Glob patterns of schema files, relative to the config file. */
  readonly schemas: string | readonly string[];
  /** Glob patterns of files in which actor classes are looked for. Default: none. */
  readonly actors?: string | readonly string[];
  /** Folder for generated code, relative to the config file. Default: `generated`. */
  readonly out?: string;
  /** The lock file. Default: `viceroy.lock`. */
  readonly lock?: string;
  /** Default: `["ts"]`. */
  readonly emit?: readonly Artefact[];
  /** Of the `.proto` files, the descriptor set and the JSON Schema. */
  readonly proto?: UserProtoConfig;
  /** What `viceroy break` lets pass. */
  readonly break?: UserBreakConfig;
}

/** The identity function: gives an editor the types of a config. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

/** A config with defaults filled in; all paths relative to `root`, with forward slashes. */
export interface Config {
  /** Absolute: the folder of the config file. */
  readonly root: string;
  readonly file: string;
  readonly schemas: readonly string[];
  readonly actors: readonly string[];
  readonly out: string;
  readonly lock: string;
  readonly emit: readonly Artefact[];
  readonly proto: UserProtoConfig;
  readonly break: { readonly ignore: readonly IgnoredBreak[] };
}

/** A config that cannot be found, loaded or used. The command line ends with code 3. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
