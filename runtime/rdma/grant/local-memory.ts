/** Memory of this process that peers may be allowed to use: a range of an ArrayBuffer that stays where it is. */

export interface LocalMemory {
  /** All of it. Holding this keeps it alive; it must not be detached. */
  readonly bytes: Uint8Array;
  /** Where it begins in this process; undefined without the addon. */
  readonly address: bigint | undefined;
  /** Of memory that others can map: the file that it is all of. */
  readonly file: MemoryFile | undefined;
}

export interface MemoryFile {
  /** Open as long as the memory is registered. */
  readonly fd: number;
  /** Which of all such memory of this process: descriptors come again. */
  readonly serial: number;
}
