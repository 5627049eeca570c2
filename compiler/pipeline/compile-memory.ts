/** What earlier runs over the same project have found out, for as long as the compiler watches. */
import type { Config } from "../config/index.js";
import { EmitMemory } from "../emit/index.js";
import { AssignMemory } from "../lock/index.js";
import { EnumNameMemory } from "../protobuf/enum-names.js";
import { type LockOnDisk, readLock } from "./project-files.js";

export class CompileMemory {
  readonly emit = new EmitMemory();
  readonly assign = new AssignMemory();
  readonly enumNames = new EnumNameMemory();
  #lock: LockOnDisk | undefined;

  /** The lock, parsed again only when its text differs: the same object otherwise. */
  readLock(config: Config): LockOnDisk {
    this.#lock = readLock(config, this.#lock);
    return this.#lock;
  }
}
