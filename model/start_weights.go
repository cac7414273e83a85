package model

// startWeights is what startRanker reads: base64 of little-endian float32. They were learned on 800 edges of each of
// ego-Facebook, CA-GrQc, wiki-Vote, email-Enron, soc-Epinions1, dblp-2010, cnr-2000, Cora, Citeseer, Pubmed, ogbl-ddi,
// MovieLens 100K, CollegeMsg, the Wikipedia edits of tgbl-wiki and the Enron messages of TGB, in 12 passes.
const startWeights = "" +
	"So86v/NM4j40rmG/y6e2Pjku7bur9zG/+IKHvTchh74TvrQ+JZCRvpWySr/5WKy9svUaPnzb0j55/NW/Wb+nPq4Q4D7u0J6/FZOhvjCtjD43weK/in6gvwgZ" +
	"Uz7X70u/EVDkPv4rGz8J7kq/q0Iwv8+eGL7LOzo+AZILv9R5a7+68s2+IMXSPagEJr6lGLu+6TTZvQ+8I7+rId28gR+uPRDrBj7U/g69/kfovk/2w75dBis+" +
	"m0kNPgsDCD6CF/s97+nsPWkIYTxpS5e+AnMWPm311D1Khti8WWm4PVIm8L4/RRQ+snDyvXGOBT6MHdC+p7+WvqN1kj2MDrU9p24xPkuCfb6UALs90AcIPvra" +
	"7r7zZXW9P0Fhv6jktLvkarw9Z+2/vXC4sz0W0gO/ZyUPv+lvtL0YoWM+z6qcPsT/5DxcVEQ8RCvGvQBhjD15Sa49e4UhPUMgar7oWrw9ngEUvw0Hmr2c/Kk9" +
	"LhG2PvRek76cMt+7Rd96PgFvGj6Ino8+fZebPoZGCD6WG3o/k/cWv1/U9jvVCEI/WtPxvW5Nyr28XgE+LnyXPlGvqj4yOpq+MGzMvb1EKT2Q4Aw/I8iHPTml" +
	"OT4MMFM9FeokPoNvw70SacY+qjOzPSSFlT6M5ac+FZLrPQALuL6meCI/F8eTPm3pG7w5hUI+5UaVPjWVTT/TUJS+HwKoPvTfRr/OBcO92ZPSPVxF6L4UQ26+" +
	"jxedvgYyDj73d8a+BZUZv9O2oz3UZNg+jI3uPoxdMr93z7o+ZhDjPuVyn784p2S/UmXmPlTSsL+8ZyK+LINTPuFOy759bHA+LIuLPtCJRL+sAwe/0CgavipY" +
	"mT77m4a+NlB9vtwcLL/r8Yw+ajljv3GF6zl65O+9hXzLvlzXjr6JwrO+0cGkPtGvWj1cpCO/STmAPi2jrD7pXrA+uF5ev57AkT1yrgA+nD91v0QbYr8U1aU9" +
	"I3elv52pSr+LPjQ+C/4HvxwrkT0BieU+GmqqvjWsB7+zJsC7awyVPjAV3rxSbZ2+9qCfvmtgiz6KlJo+nqejPj2YIL73WhG/RJeyvlXizr47ZJw+sNyNvib2" +
	"HL+FUMU8QCquPuMSzT6veNm+EgnrPmwgAD9pY86+zyU4vuFF7D6DnRo+VNOhvNCWBD9iPgG/1VjWPuWnXj00l7W+u1rAvkPQ/rzWZYk+euIKv4PzCL9kkqy+" +
	"RqKQvmzwDD6dpnk+9w4iPhzu775osc4+ynuJPvhFsb4rFZk++LI6v3AHIbxOyJW+wTCfvs8nNL5Yyve9AvuDvrrwAb762M29tnxDvqI3lj6bDIq+HMIsvlbF" +
	"Kb9fP/a+ME3gPrhyOj7HSAG/zZ0vvgnFUr6EHoY+4bs1PaE+aj5XTfg9+7G+vemAgr5B4P+9kFUAvQwIib4wcfA9CCGcO/pxgD4QFP69KI0fvLQQLTxVQRO+" +
	"pJ+hvpALDbtpjYk9U9x3Pfx6bj7O8U48g/crvXWkur43kyw+LupQPmoPQT69aEq7JeRjvtvw8Du+MGe/7h86Prw9t703+gm8sIy5vf9CkT4q17g+XdetPp1L" +
	"t7ybZvw9AR2qvuofM75jZYw9YigHvhxSPj04mMO+1y25PjK6rT4Zxxa+DEVVPW7i1D35XZi+hRoMvP4glj5XZMy9nmsIv5fsND3Ol9I9Xb8GPhskG75PTAi/" +
	"CP0pPTVZNb9iWg28VulsPYu51zy8OI4+QROsPdpU/T0yzpC+eQetvdicMD9Ax6q+jT2gvgkh8LqJw7w+3T01P41IsD7dyVI+G2ngvmMqpDy4x0s+LJWlPtAf" +
	"lb/Gy+A+i5+LPuxonrqyDZG/an+aPlEy5z7HQEg9LDArvzEjn7/05dY+DvGVu0HWcz29uQI/P4cNv8zkwz3ysD0+QQmcPsJmdT5U8hI9lPk2PvxSND7AWAI+" +
	"zPfpPf+xhr6trJ493acQvlsgUT5I0h8+YtOCvfY7Hz6cEw09Mn67vWjrmr3YvZ09ARGOvmklkr6XxRs8V5SmPTSvFD4qlcs7h1/YPLGk7j2Pa5m9Ub9zPVQu" +
	"Az/fnyQ+KPCrPnbczT5mZvE+DVaOOxzSB74PxdQ+dHTkvjqMhL45DLQ+Mrf4PuLsxT6JsOM+0TB5PlLfqz7V5UO+WseaPuN+rj7WvjY9IFzDPrCkrj5FUFI/" +
	"dgEvv7pyxT71/H4+d+vQPrSypL46m0e9LoJ9PuOAYr1fAY8+36GTPHWnzTygK4k+AlYEPmSoij7KaPQ9MEjevfMhUj4+fv29GVSLukaR8DsPxpA9+ee6PUKw" +
	"3D2eSBU+8JKBPol+nz4AhzI+T0HwPXOEwL5b/u899t8tPYGVgr7yoTe+fhynvPaxhj7v4pM++dAzvUHa2r0fr0g+GxMmPvoL5zysP9c+QsU+vXWRrT4bexo+" +
	"k19RPnjZA7+0AxG+b/CdPlVKsb0ADLU+Ke8Uvjc0ED/QXx0+2s1pvcVKJ71mnsG+N8FOPqptqz2ej0M9MfC4vka6dT5+lL29pErqvQ+XFT79K1o97KCMPvJv" +
	"KjySVi0+z6vovaQXvD5STgI9NPa+vLoMBr71v8m+TLjQvV4jmL1qKr0+Vm72vpesDr25llk7ojAgvrlg7z7kwaW8s5rOPoSqSD2ertE+4jxjvkRSYz3bFnO+" +
	"ta0Lvrb7Ab7aAyq9am9jPQCysz1HnSa/NU4hPxf1N75Mx5O7lMCHvatZHT91HsI9jP0iPuSuyD5bGhe+r+3VPh9MUr2xa4Y+ZOWzPtjrJT/B8Sy+S+g+vRPo" +
	"nz6g/om9cBRyvRnSMj7Uu829DEnMPXF3G7/xdbI+yelLP8CnN79jBpA+UJGyPo8rK7/CcQA+/nGIPveQxr50o58/ev2yPlRUYD5l8Xs+tXy9vip9Cb+h6sc+" +
	"8yYwv3hLqj5eRFy+ugUUv9nB5zzvc9Q8yxsHv+8q5D3t4N480rkEO6K4o7y7OOy+P5UVPqnxEr5yW0E+XytJP3sM2z6XlgC+Hl/QvgAdIz4f2/Y97NwFvjW1" +
	"ij5aX80+g98bv29nTL8+NQY+WiSOPkWF/z34XY2+tcx6vSpvwD5BOJ+9IXcxPjvGZ74YpzK+aQMnPjxS/D06pQu/ML0iPlswEb5Wad0995ABvsWdRL5p/yA+" +
	"6g+AvodR1blHXqa+ioQwPuXMLr6v5d++3rgDPph6+j1sHiO+jf06vUewXT7ugJi9q8w9PsGFOz77BHo+gWsFPoBiwbyRwIm+85+evX03rL6CzwA+MssivqOa" +
	"HD6vbI4+DLD+PAbp6L6cv4Q+1ZAfvpFWAj0kYiQ9vRHOvuOymj7zLoy+R0tFPu2A9byNmbY+BPAsv94Gz72g9ac+QrabPqX3P76ZTsw+CVkfPjA7GL/kZim/" +
	"vHSwPqabQD4pWqI+eiv6vSC5Qz7kpas+XddHvplWmD3MipC+b1dRvs4yXz4bzpI+AYlGvnZrcz407hG+GYYQPq9HKr8M33O+c6xQPpBRjr3Qo5s+T+V0vQ/a" +
	"Gj4yTCS/7gcFv/5Ikj4DbK49gQyDvjAFoT3M0Js+deELvyY+q75bYb8+es3aPYJheT7LRYS+ggaPvoc9gj4eHy2+rl9jPrp0bb6G4r49VG+qvVTpjb5C5349" +
	"8tggvmj2y73d7p6+WapQvXToNj0m/6++tlWqPqMdwr5Ber0+VTeTvtumnb6tIfW+qq18vuUJyL1zq8A+WsJSvhU5h77d8iQ+X0x6viu2jb63S+K9p82evkVH" +
	"mz4Y0Xa+Tvg6vjPkTb4j2rW91zU6PYAOZb05wxk+8nI5O6/Ssj44WpO+1GrHPfg4pD3rYow6+mBKvAXaJLwI6tw9020evtLSeD3SRK071uFmvrnn4L5R1sW9" +
	"meWhPTwbAj6ODpO9lC8bPgCXzr7NFrU+5Z65OiylWj2EoI+9hIpdPhscub6qp+I9kOTpvinKET4HWMA8TBiBPhXDS77F8pG+2O4GPn9Dkz6stYK8HfiIP+NE" +
	"AL+O/Hs+NAHcPa5b/L2w9sk+69ksv2t7az5vA2w/TVeWvnsbvT20ZQc/HvayPYvLnj7b11Y/RigUPgadKj9Bg1I+G2jYPnIVCz/yfVU+SQCGPpq3Xz4ep0i/" +
	"NYlVPboyN75cMqc+POnUvm8LRL7sLbi+cUUYPuRIhz19fBe/cMh+v6tO4j4ARle+BQGjPuWi3r40Kui9z6FUvkZ6JL/9U2a/TKVPvgXtHb8UL189duYpvpR3" +
	"Bb+KbiE+TzyOPcAFgr4Hq4W+tU8mv9w9uz4OGuk9alBxvnmNXr5SbnK+xBIsvi++AD4bz0M+3+iJPph8GD2eEYi9vUM+vLCm4z4GNRQ/8U5jPvA/ZD4i/Qe9" +
	"bmEgP0i2hT4tomM+Un45vlY9kz/o5s09mgC8PM6IQL/npCs/KLJ7PqBjgT8YPpQ+oiNTPjruMz9X4TA9vzKyPusUpT2N138/IHBEP0LeMz54764+B56dPkI4" +
	"1L7Lgbs9kwZ7PqbamT+XydI9MILXvvBPGD+2pwW+iEFIPp67Pb9XfC4+Q2x2v8o7IT4s90C9F2tIvtjp0D3MTfs9kgRfvjmkDL5rarm9wIuLv0rrnD8HlIY+" +
	"lw2pvj6ldj505kq9kWpavm81777I23W/7QwGPjkBDD968fs+7EhCPkmR1T1eSF0/hZh7P3kCND3VtIA+n7gnPF96Db4+8qI9yO6BvqmhJ74S99G+3cvIPB1U" +
	"wz3AWIy+PPNcPtFNlD71LOw+K5SEPgneuj777iK+RSqLP/muxz4HClU+e5RjPhTS7D1bZcc+T61YPuK5NT4j17891kmNPjYu2z4CaUQ92nYxuwKqs75DjXs+" +
	"10vBPS4y4zwVTLk+ghwPP7k5u72DEK2+K1ewvIFe873vVWG+kLMDv/PbAD6mRp2+K8lMunDFAD+vx/M6LNcfPVfwBr4XDAi/hjumvsCpH7zwZaa9RJamPhOk" +
	"6j6vCSw+4EgBP92aFb4YKvQ9Hv7ePuNNnj6FXZU+Yu+ZPh8MXD6MVuy9wXTmPvWnHj7Lx5K9pra9PeYGk7+8mdY+/CdSvyigaD4aGQA/Dx/BvgLbET7w3Uo9" +
	"iH4EvvK9hT7V4HQ9jTYevo93PT4Vlis+Y86KPrGwMT4ssgq+pDgtvlhBbD4punq8lDkbPtIrAD5E5rg9u+pEPoHCZj4tYdM+gDmhP4Ze17w0bdw+Djh3vrHO" +
	"TL3yOJw99lifv1AX8T4h4oC/Y8BGO1xNJz/YxiS/nkeYPpT30z0Zx2S/FTezPmaoDz78g788aSaKvluAoz6B6Qg/YiRnPjESh77kQIq+2Qi7Ptbl6L4jMcc9" +
	"hkaDP94klz+yHATAF9EVwLYE2b+oniO8YfNFvk+bub84k5S7TCkJP9/7MD6Jyvg8Jtk4wMZR176fQrE6SDOXP7jazb/Re+I+2vjDP1w+PT+R2g7AmQw1v1+U" +
	"ML+K4xXAQYkMPj+hG8DgP+Q/j7aXPyy0Vz7vUiXA/pIMwAFRqL1Wt3u/enw6v/OMbT+aCQBAubcGP2SN3z1ESJ09iSFQP4uBWD/8YUi/OoB+PyH6lr+2ujJA" +
	"SVYuwM+Ddj8BxqO+M+NMv//plT9Tji4/Drp3vs6ypz/aOJQ+wmQsv4vR5T/Wvo4/wpWjPxaCFj/6yIa/bYMmv1mipj8zFBzAizmLP5pOJ7/hSdC+FvuqvS9E" +
	"Dj0BRKQ9pVx3vfXyH7xtj7o8vsYqvqMvjT4/nQy+KFtgPiNJMT65idw+ztKYvXqWF74iqxo9GHGovX7e972pr7i+fuRiPejCEb4ir748uqUvv9DwLL5SdUg9" +
	"toYjvu6fMz5I8uE9ZpvWOgGp9j1HDxS+bIo7P895DD3xH38+GLNXPQGMFD+ywRi/17UcPrNjRbyNCEU+Vi+5vY0nsT6sbLm+bo4hPR99Sr4kvAo+JdcVP7Kb" +
	"rr3c5mA9gAcovBm3aj7zG/g92qddPqzE3L2c/yY/VLWOPra3gT7iFWo+hrMvPS9R+j4G0A69Wi1qvpt7LD7pqmK/C1hdv+S4iDxhU9w+PNpOP9WsuL8i++q9" +
	"lOh1O+A9Or+oksi+TRMdP2uAjj2S7NM8JiyWPkK9KD8hgpk/TUzHvlQG/j6Ptgg//rx5v8nUxb06Ky0/VpE7v7z+dj8iruw+bFQmvlU6DD9LS16+ZuUlvwoJ" +
	"2Twb5xm+8M2lPqKLLb/1OKK/VtlQvmFL47xy9rW+7qD6vl1qKr4/DIy+eX80vlH8BT/QmVc+acUbP4pnGr2Y2cM+FNfzPQo/Sj5eswY+CxCtPj/Vsj3fy10/" +
	"HlGIvkW2Ar7Kw3q9CTOuvpVGAT69D0e+/GtUPfAiRD/PamA+mtzbvmyuaj5jKQU+7c6MPaM0jj0D88c+JDAfPhK1VT+jVOO/nkprPV4KpT5v5xC/uEOvvsaM" +
	"4DySzra/m3pCP3p8+L9NBIs+2hNXPyScQL8G5F09A0lGPshNtr/A8MU+mkJqPl63qb+kAuA/oegUPoC/2D5abnE+z+/NvvFEOL87d44+1DEawNQZTj2nLX+/" +
	"dVyiv/ygkr5uI0E//1unQH10DsE="
