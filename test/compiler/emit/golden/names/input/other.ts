export interface Codec {
  b: boolean;
}
export interface Tree {
  codec: Codec;
}
