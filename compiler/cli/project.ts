/**
 * What the commands share: the config of a folder, and a compiler that is loaded when it is first needed, once. The config
 * of an unchanged tree is remembered, so that it need not be evaluated either.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { type Config, loadConfig, nearestConfig } from "../config/index.js";
import { configOfUnchangedTree } from "../output/index.js";
import type { CompileMemory } from "../pipeline/index.js";
import type { TypeSource } from "../source/index.js";
import { version } from "./version.js";

export class Project {
  readonly configFile: string;
  /** While the compiler watches. */
  memory: CompileMemory | undefined;
  #config: Config | undefined;
  #source: TypeSource | undefined;

  /**
   * @param folder the one with the config, or any below it
   * @throws ConfigError when there is no config
   */
  constructor(folder: string) {
    this.configFile = nearestConfig(path.resolve(folder));
  }

  /** The config, when nothing has changed since the last run. Loads no compiler. */
  configIfUnchanged(): Config | undefined {
    return configOfUnchangedTree(this.configFile, version);
  }

  /** @throws ConfigError */
  async config(): Promise<Config> {
    if (this.#config === undefined) {
      const source = await this.source();
      this.#config = loadConfig(this.configFile, (file, text) => source.transpile(file, text));
    }
    return this.#config;
  }

  async source(): Promise<TypeSource> {
    if (this.#source === undefined) {
      // Imported here: this is what loads the compiler.
      const { openTypeSource } = await import("../source/index.js");
      const root = path.dirname(this.configFile);
      this.#source = openTypeSource({ exists: (file) => existsSync(path.join(root, file)) });
    }
    return this.#source;
  }
}
