/**
 * The state that the commands share: the config of a folder, and the compiler, which is loaded at most once. The config
 * of an unchanged tree is cached, so that it need not be evaluated.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Config } from "../config/config.js";
import { nearestConfig } from "../config/find.js";
import { configOfUnchangedTree } from "../output/tree-state.js";
import type { CompileMemory } from "../pipeline/index.js";
import type { TypeSource } from "../source/index.js";
import { version } from "../version.js";

export class Project {
  readonly configFile: string;
  /** The results of earlier compilations, in watch mode only. */
  memory: CompileMemory | undefined;
  /** The files of other packages that the last compilation has read, with their texts, or undefined if one is missing. */
  foreignTexts: ReadonlyMap<string, string | undefined> = new Map();
  #config: Config | undefined;
  #source: TypeSource | undefined;

  /**
   * @param folder the folder of the config, or a folder below it
   * @throws ConfigError if there is no config
   */
  constructor(folder: string) {
    this.configFile = nearestConfig(path.resolve(folder));
  }

  /**
   * Returns the config if no file has changed since the last run. It does not load the compiler.
   * @param refresh whether it may write a state with which the next call is faster
   */
  configIfUnchanged({ refresh = false }: { readonly refresh?: boolean } = {}): Promise<Config | undefined> {
    return configOfUnchangedTree(this.configFile, version, { refresh });
  }

  /** @throws ConfigError */
  async config(): Promise<Config> {
    if (this.#config === undefined) {
      // Loaded only here, because the config of an unchanged tree is not evaluated.
      const [{ loadConfig }, source] = [await import("../config/load.js"), await this.source()];
      this.#config = loadConfig(this.configFile, (file, text) => source.transpile(file, text));
    }
    return this.#config;
  }

  async source(): Promise<TypeSource> {
    if (this.#source === undefined) {
      // Loaded only here, because this import loads the compiler.
      const { openTypeSource } = await import("../source/index.js");
      const root = path.dirname(this.configFile);
      this.#source = openTypeSource({ exists: (file) => existsSync(path.join(root, file)) });
    }
    return this.#source;
  }
}
