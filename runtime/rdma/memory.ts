/** Memory of this process that peers may be allowed to use: a range of an ArrayBuffer that stays where it is. */

export interface Memory {
  /** All of it. Holding this keeps it alive; it must not be detached. */
  readonly bytes: Uint8Array;
  /** Where it begins in this process; undefined without the addon. */
  readonly address: bigint | undefined;
  /** Of memory that others can map: the descriptor of its file, open as long as the memory is registered, and where in the file it begins. */
  readonly file: { readonly fd: number; readonly offset: number } | undefined;
}
