// As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.
using System;

static class Program
{
    static double Interpolate(double[] table, double x)
    {
        int k = (int)x;
        return table[k] + (table[k + 1] - table[k]) * (x - k);
    }

    static double Sum(double[] table, uint count)
    {
        double total = 0;
        for (uint i = 0; i < count; i++)
        {
            uint position = unchecked(i * 0x9E3779B9u);
            total += Interpolate(table, (position >> 6) / 65536.0);
        }
        return total;
    }

    static void Main()
    {
        var table = new double[1025];
        for (int k = 0; k < table.Length; k++)
        {
            table[k] = k * (11 * k + 37) % 4096;
        }
        for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            Console.WriteLine((long)(65536 * Sum(table, uint.Parse(line))));
        }
    }
}
