// three brings no types of its own: what is built from it is checked where it is ours.
declare module 'three';
declare module 'three/examples/jsm/*';
