// As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

final class Interpolate {
    private static double interpolate(double[] table, double x) {
        int k = (int) x;
        return table[k] + (table[k + 1] - table[k]) * (x - k);
    }

    private static double sum(double[] table, int count) {
        double total = 0;
        for (int i = 0; i < count; i++) {
            int position = i * 0x9E3779B9;
            total += interpolate(table, (position >>> 6) / 65536.0);
        }
        return total;
    }

    public static void main(String[] arguments) throws IOException {
        double[] table = new double[1025];
        for (int k = 0; k < table.length; k++) {
            table[k] = k * (11 * k + 37) % 4096;
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println((long) (65536 * sum(table, Integer.parseInt(line))));
        }
    }
}
