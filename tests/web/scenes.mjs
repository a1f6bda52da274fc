// The scenes whose hashes node and browsers compare with the native program's.
export const SCENES = [
    'bench/A_pyramid20', 'bench/B_pile1000', 'bench/C_mixed1000', 'bench/D_chains100x20', 'games/hulls_on_a_ramp', 'games/jenga', 'games/coins',
];
