/** The results that watch mode keeps between compilations of one project. */
import type { Config } from "../config/index.js";
import { EmitMemory } from "../emit/index.js";
import { AssignMemory } from "../lock/index.js";
import { EnumNameMemory } from "../protobuf/enum-names.js";
import type { ImportExtensionChoice } from "./import-extension.js";
import { type LockOnDisk, readLock } from "./project-files.js";

export class CompileMemory {
  readonly emit = new EmitMemory();
  readonly assign = new AssignMemory();
  readonly enumNames = new EnumNameMemory();
  /** The choice of the first run. It is kept like the config, and the results of the emitters depend on it. */
  importExtension: ImportExtensionChoice | undefined;
  #lock: LockOnDisk | undefined;

  /** Returns the parsed lock. It is the same object while the text is the same. */
  readLock(config: Config): LockOnDisk {
    this.#lock = readLock(config, this.#lock);
    return this.#lock;
  }
}
