/** Registered memory of this process: a range of an ArrayBuffer that is neither moved nor detached. */

export interface LocalMemory {
  /** The whole memory. The view keeps the ArrayBuffer alive. */
  readonly bytes: Uint8Array;
  /** The address of the first byte in this process; undefined without the addon. */
  readonly address: bigint | undefined;
  /** The file of memory that peers can map; it contains this memory and nothing else. */
  readonly file: MemoryFile | undefined;
}

export interface MemoryFile {
  /** The descriptor, open as long as the memory is registered. */
  readonly fd: number;
  /** The serial number of the file in this process. The system reuses descriptors, but not serial numbers. */
  readonly serial: number;
}
